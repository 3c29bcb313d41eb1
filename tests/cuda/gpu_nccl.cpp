// Ranks of NCCL, a process each: what travels from and to host memory and devices, products of one
// rank's bits, errors. It needs two GPUs, or NCCL_MULTI_RANK_GPU_ENABLE=1 and NCCL 2.30.

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "distributed/nccl_ranks.hpp"
#include "distributed/product_cases.hpp"
#include "gpu.hpp"
#include "rig/distributed/nccl.hpp"

namespace {

using namespace ranks;
using rig::dense;
using rig::distributed;
using rig::index;
using rig::int64;
using rig::matrix;

void require(bool holds, const std::string& words) {
  if (!holds) throw std::runtime_error(words);
}

/// What is wrong on a rank. It is thrown after the last exchange, because a rank that leaves before
/// keeps the others waiting.
struct findings {
  std::string words;
  void operator()(bool holds, const std::string& what) {
    if (!holds && words.empty()) words = what;
  }
  void report() const { require(words.empty(), words); }
};

using nccl_ranks::device_of, nccl_ranks::greatest_size;

/// What a rank's process finds in its environment.
constexpr const char *rank_variable = "RIG_NCCL_RANK", *size_variable = "RIG_NCCL_SIZE",
                     *id_variable = "RIG_NCCL_ID";
int number_in(const char* variable) { return std::atoi(std::getenv(variable)); }

/// An ID of a communicator, as text. Its sockets serve until this process ends.
std::string new_id() {
  ncclUniqueId id;
  require(ncclGetUniqueId(&id) == ncclSuccess, "ncclGetUniqueId");
  std::string out;
  for (const char byte : id.internal) {
    constexpr const char* digits = "0123456789abcdef";
    const auto bits = static_cast<unsigned char>(byte);
    out += {digits[bits / 16], digits[bits % 16]};
  }
  return out;
}

ncclUniqueId id_from(const std::string& text) {
  ncclUniqueId id;
  for (std::size_t k = 0; k < sizeof(id.internal); ++k)
    id.internal[k] = static_cast<char>(std::stoi(text.substr(2 * k, 2), nullptr, 16));
  return id;
}

/// Starts this program as a rank, which ends after four minutes: it may wait for a rank that ended.
pid_t start_rank(int rank, char** arguments) {
  setenv(rank_variable, std::to_string(rank).c_str(), 1);
  const pid_t child = fork();
  if (child != 0) return child;
  alarm(240);
  execv("/proc/self/exe", arguments);
  _exit(99);
}

/// Runs this program as each of some ranks. The first that fails ends the others.
bool do_ranks_pass(int size, char** arguments) {
  setenv(size_variable, std::to_string(size).c_str(), 1);
  setenv(id_variable, new_id().c_str(), 1);
  std::vector<pid_t> ranks;
  for (int rank = 0; rank < size; ++rank) ranks.push_back(start_rank(rank, arguments));
  bool pass = true;
  for (int left = size; left > 0; --left) {
    int status = 0;
    const pid_t ended = wait(&status);
    if (status == 0 || !pass) continue;
    pass = false;
    const auto rank = std::find(ranks.begin(), ranks.end(), ended) - ranks.begin();
    std::printf("rank %td of %d: %s %d\n", rank, size, WIFSIGNALED(status) ? "signal" : "exit code",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    for (const pid_t other : ranks)
      if (other != ended) kill(other, SIGKILL);
  }
  return pass;
}

/// The words of this process's command line.
std::vector<std::string> command_line() {
  std::ifstream from("/proc/self/cmdline");
  std::vector<std::string> words;
  for (std::string word; std::getline(from, word, '\0');) words.push_back(word);
  return words;
}

/// A process is a rank of each number of ranks in turn, or starts them before doctest runs.
[[maybe_unused]] const bool is_rank = [] {
  if (std::getenv(rank_variable) != nullptr) return true;
  if (gpu.device == 0 && greatest_size() < 2) {
    std::puts("SKIPPED: one CUDA device here, this needs two or NCCL_MULTI_RANK_GPU_ENABLE=1");
    std::exit(77);
  }
  auto words = command_line();
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  bool pass = true;
  for (int size = 1; size <= greatest_size() && pass; ++size) {
    pass = do_ranks_pass(size, arguments.data());
    std::printf("%d of %d ranks: %s\n", size, greatest_size(), pass ? "pass" : "fail");
    std::fflush(stdout);
  }
  std::exit(pass ? 0 : 1);
}();

/// This process's rank, on its device. It is not destroyed: CUDA ends first.
const rig::communicator& here() {
  static const rig::communicator& made = *[] {
    const int rank = number_in(rank_variable);
    ncclComm_t of = nullptr;
    require(cudaSetDevice(device_of(rank)) == cudaSuccess, "cudaSetDevice");
    require(ncclCommInitRank(&of, number_in(size_variable), id_from(std::getenv(id_variable)),
                             rank) == ncclSuccess,
            "ncclCommInitRank");
    return new rig::communicator(rig::nccl_communicator(of));
  }();
  return made;
}

/// Runs work(communicator). All ranks do so in the same order.
template <class Work>
void on_devices(const Work& work) {
  std::string thrown;
  try {
    work(here());
  } catch (const std::exception& cause) {
    thrown = cause.what();
  }
  CHECK_MESSAGE(thrown.empty(), "rank ", here().rank(), " of ", here().size(), ": ", thrown);
}

TEST_CASE("numbers of all ranks") {
  on_devices([](const rig::communicator& here) {
    const int64 size = here.size(), large = int64{1} << 61;
    findings found;
    found(here.all_reduce(here.rank() + 1, rig::joining::sum) == size * (size + 1) / 2, "sum");
    found(here.all_reduce(here.rank() - large, rig::joining::least) == -large, "least");
    found(here.all_reduce(large + here.rank(), rig::joining::greatest) == large + size - 1,
          "greatest");
    here.barrier();
    found.report();
  });
}

/// Byte `at` of message `number` from one rank to another.
unsigned char byte_of(int from, int to, std::size_t number, std::size_t at) {
  return static_cast<unsigned char>(31 * at + at / 251 + 7 * number +
                                    3 * static_cast<unsigned>(from) + static_cast<unsigned>(to));
}

/// Messages of odd sizes between all pairs, each from and to host memory or a device.
void exchange_all(const rig::communicator& here, const std::vector<bool>& is_sent_from_device,
                  const std::vector<bool>& is_received_on_device) {
  const rig::place device = rig::cuda(device_of(here.rank()));
  const std::vector<std::size_t> sizes{1, 0, 3, 17, (std::size_t{1} << 20) + 1};
  std::vector<rig::buffer> sent, received;
  std::vector<rig::message> sends, receives;
  for (int other = 0; other < here.size(); ++other)
    for (std::size_t k = 0; k < sizes.size() && other != here.rank(); ++k) {
      const auto bytes = rig::buffer::allocate(sizes[k]);
      for (std::size_t at = 0; at < sizes[k]; ++at)
        bytes.data<unsigned char>()[at] = byte_of(here.rank(), other, k, at);
      sent.push_back(is_sent_from_device[k] ? bytes.to(device) : bytes);
      received.push_back(
          rig::buffer::allocate(sizes[k], is_received_on_device[k] ? device : rig::cpu()));
      sends.push_back({other, sent.back().data(), sizes[k]});
      receives.push_back({other, received.back().data(), sizes[k]});
    }
  rig::synchronise(device);
  here.exchange(sends, receives);
  require(cudaSetDevice(device.device) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess,
          "the device");
  std::size_t number = 0;
  for (int other = 0; other < here.size(); ++other)
    for (std::size_t k = 0; k < sizes.size() && other != here.rank(); ++k) {
      const rig::buffer bytes = received[number++].to(rig::cpu());
      std::size_t at = 0;
      while (at < sizes[k] && bytes.data<unsigned char>()[at] == byte_of(other, here.rank(), k, at))
        ++at;
      require(at == sizes[k], "byte " + std::to_string(at) + " of message " + std::to_string(k));
    }
}

TEST_CASE("bytes from and to host memory and devices") {
  const std::vector<bool> on_host(5, false), on_device(5, true),
      mixed{true, false, false, true, false};
  for (const auto& sent : {on_host, on_device, mixed})
    for (const auto& received : {on_host, on_device, mixed})
      on_devices([&](const rig::communicator& here) { exchange_all(here, sent, received); });
}

TEST_CASE("an exchange keeps the order of the call's stream") {
  on_devices([](const rig::communicator& here) {
    const int device = device_of(here.rank()), next = (here.rank() + 1) % here.size(),
              before = (here.rank() + here.size() - 1) % here.size();
    require(cudaSetDevice(device) == cudaSuccess, "cudaSetDevice");
    cudaStream_t stream = nullptr;
    require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess, "a stream");
    constexpr std::size_t bytes = std::size_t{64} << 20;
    findings found;
    {
      const auto out = rig::buffer::allocate(bytes, rig::cuda(device)),
                 in = rig::buffer::allocate(bytes, rig::cuda(device));
      rig::synchronise(rig::cuda(device));
      for (int round = 0; round < 8; ++round) {
        cudaMemsetAsync(out.data(), 16 * round + here.rank(), bytes, stream);
        const rig::message send{next, out.data(), bytes}, receive{before, in.data(), bytes};
        const auto count = static_cast<std::size_t>(here.size() > 1);
        here.exchange({&send, count}, {&receive, count}, stream);
        std::vector<unsigned char> got(bytes);
        cudaMemcpyAsync(got.data(), in.data(), bytes, cudaMemcpyDefault, stream);
        found(cudaStreamSynchronize(stream) == cudaSuccess, "the stream");
        for (std::size_t at = 0; at < bytes && count > 0; at += 4095)
          found(got[at] == 16 * round + before, "round " + std::to_string(round));
      }
    }
    cudaStreamDestroy(stream);
    found.report();
  });
}

/// Both forms, of an X by rows and by features.
template <class S>
void sweep(const matrix<float>& a, const std::vector<index>& widths) {
  for (const index features : widths)
    for (int kind = 0; kind < 2; ++kind) {
      const auto x = random_dense<float>(a.columns(), features, 5);
      on_devices([&](const rig::communicator& here) {
        const auto rows = layout_of(a.structure(), here.size(), kind, 3);
        const std::string wrong = compare<S>(here, a, x, rows, rows);
        require(wrong.empty(), words_of(S::name, here.size(), kind, features) + ":" + wrong);
      });
    }
}

TEST_CASE("products have the bits of one rank") {
  const auto a = random_matrix<float>(997, 997, 20, 1);
  sweep<rig::plus_times<float>>(a, {1, 3, 32, 128});
  sweep<rig::max_second<float>>(a, {1, 33});
  sweep<rig::min_plus<float>>(a, {3});
  sweep<rig::arg_max_second<float>>(a, {3});
  sweep<damped>(a, {1, 32});
  sweep<sum_and_greatest>(a, {3});
  sweep<weighted_by_place>(random_matrix<float>(3, 3, 2, 2), {1});
}

TEST_CASE("transposed products, columns, closures and small rows have the bits of one rank") {
  const auto a = random_matrix<float>(501, 501, 9, 3);
  const auto sums = rig::plus_times<float>();
  // The number of threads may decide which kernel runs, and a busy machine the number of threads.
  const rig::descriptor one = {.threads = 1}, turned = {.transpose_a = true, .threads = 1};
  const auto x = random_dense<float>(501, 3, 4), u = random_dense<float>(501, 1, 5);
  const auto t = rig::transpose(a);
  for (int kind = 0; kind < 2; ++kind)
    on_devices([&](const rig::communicator& here) {
      const auto rows = layout_of(a.structure(), here.size(), kind, 3);
      const auto part = distributed<matrix<float>>::from_whole(here, a, rows);
      const auto of_x = distributed<dense<float>>::from_whole(here, x, rows),
                 of_u = distributed<dense<float>>::from_whole(here, u, rows);
      findings found;
      found(same_bits(rig::mxm(part, of_x, sums, turned).gather(), rig::mxm(a, x, sums, turned)),
            "a transposed product");
      found(same_bits(rig::mxv(part, of_u, sums, one).gather(), rig::mxv(a, u, sums, one)), "mxv");
      found(same_bits(rig::vxm(of_u, part, sums, one).gather(), rig::mxv(t, u, sums, one)), "vxm");
      found(same_bits(rig::bfs(part, 0).levels.gather(), rig::bfs(a, 0).levels), "bfs");
      const auto codes = rig::quantized::from(x);
      const auto of_codes = distributed<rig::quantized>::from_whole(here, codes, rows);
      found(same_bits(rig::mxm(part, of_codes, sums, one).gather(), rig::mxm(a, codes, sums, one)),
            "codes");
      found.report();
    });
}

/// The bits of a product on one device by rows of A and of X on each device.
template <class S>
void multiply_on_devices(const matrix<float>& a, const dense<float>& x) {
  for (int kind = 0; kind < 2; ++kind)
    on_devices([&](const rig::communicator& here) {
      const auto rows = layout_of(a.structure(), here.size(), kind, 3);
      require(nccl_ranks::multiplies_on_devices<S>(here, a, x, rows),
              words_of(S::name, here.size(), kind, x.columns()));
    });
}

TEST_CASE("rows of A and of X on each device") {
  const auto a = random_matrix<float>(2003, 2003, 30, 6);
  multiply_on_devices<rig::plus_times<float>>(a, random_dense<float>(2003, 64, 7));
  multiply_on_devices<rig::max_second<float>>(a, random_dense<float>(2003, 33, 7));
  multiply_on_devices<rig::plus_times<float>>(rig::generate::rmat(14, 16),
                                              random_dense<float>(1 << 14, 32, 8));
}

TEST_CASE("slices of columns, whose rows travel while others are multiplied") {
  const auto a = rig::generate::random_values(rig::generate::uniform(140000, 12));
  const auto x = random_dense<float>(a.columns(), 256, 10);
  multiply_on_devices<rig::plus_times<float>>(a, x);
  multiply_on_devices<rig::arg_max_second<float>>(a, x);
  on_devices([&](const rig::communicator& here) {
    const rig::place device = rig::cuda(device_of(here.rank()));
    const auto rows = layout_of(a.structure(), here.size(), 1, 3);
    const auto part = distributed<matrix<float>>::from_whole(here, a, rows).to(device);
    const auto of_x = distributed<dense<float>>::from_whole(here, x, rows).to(device);
    const int slices = rig::explain(part, of_x, rig::plus_times<float>()).slices;
    require(here.size() == 1 || slices > 1, std::to_string(slices) + " slices");
  });
}

TEST_CASE("a rank that throws ends the call on all, and they go on") {
  const auto a = random_matrix<float>(97, 97, 9, 8);
  const auto x = random_dense<float>(97, 3, 9);
  on_devices([&](const rig::communicator& here) {
    const auto rows = rig::layout::by_entries(a.structure(), here.size());
    const auto part = distributed<matrix<float>>::from_whole(here, a, rows);
    const auto of_x = distributed<dense<float>>::from_whole(here, x, rows);
    rig::descriptor desc;
    const int last = here.size() - 1;
    if (here.rank() == last) desc.kernel = "sell";
    const auto began = std::chrono::steady_clock::now();
    std::string words;
    try {
      rig::mxm(part, of_x, rig::plus_times<float>(), desc);
    } catch (const rig::error& cause) {
      words = cause.what();
    }
    findings found;
    found(words.starts_with("mxm: rank " + std::to_string(last) + " of " +
                            std::to_string(here.size()) + ": kernel 'sell'"),
          "another error: " + words);
    found(std::chrono::steady_clock::now() - began < std::chrono::seconds(1), "a second");
    const rig::descriptor one = {.threads = 1};
    found(same_bits(rig::mxm(part, of_x, rig::plus_times<float>(), one).gather(),
                    rig::mxm(a, x, rig::plus_times<float>(), one)),
          "after an error");
    found.report();
  });
}

}  // namespace
