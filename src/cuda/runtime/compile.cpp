#include "cuda/runtime/compile.hpp"

#include <nvrtc.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "cuda/runtime/context.hpp"
#include "cuda/runtime/kernel_cache.hpp"
#include "cuda/runtime/runtime.hpp"
#include "cuda/runtime/shared_library.hpp"

namespace rig::on_cuda {
namespace {

struct nvrtc {
  decltype(&nvrtcVersion) version;
  decltype(&nvrtcCreateProgram) create;
  decltype(&nvrtcDestroyProgram) destroy;
  decltype(&nvrtcAddNameExpression) add_name;
  decltype(&nvrtcCompileProgram) compile;
  decltype(&nvrtcGetProgramLogSize) log_size;
  decltype(&nvrtcGetProgramLog) log;
  decltype(&nvrtcGetCUBINSize) cubin_size;
  decltype(&nvrtcGetCUBIN) cubin;
  decltype(&nvrtcGetLoweredName) lowered_name;
  decltype(&nvrtcGetErrorString) error_string;
};

/// NVRTC's static objects are destroyed at exit, in reverse order of their construction. The end of
/// compiling is registered after them, so that it comes first: it waits for the kernels in the
/// making, and refuses later ones.
std::shared_mutex compiling;
bool process_ends = false;
void refuse_at_exit() {
  const std::lock_guard lock(compiling);
  process_ends = true;
}

}  // namespace

const shared_library& compiler_library() {
  static const shared_library* const found = []() -> const shared_library* {
    const std::string chosen = variable("RIG_NVRTC");
    const auto* const opened =
        new shared_library(chosen.empty() ? toolkit_names("libnvrtc.so", CUDART_VERSION / 1000)
                                          : std::vector<std::string>{chosen});
    std::atexit(refuse_at_exit);
    return opened;
  }();
  return *found;
}

namespace {

nvrtc load_nvrtc() {
  const shared_library& library = compiler_library();
  if (const char* const why = library.why_absent(); why != nullptr)
    fail(errc::cannot, {"this product is compiled at run time, which needs NVRTC; install it, or "
                        "set RIG_NVRTC to its path: ",
                        why});
  nvrtc out{};
  library.find("nvrtcVersion", out.version);
  library.find("nvrtcCreateProgram", out.create);
  library.find("nvrtcDestroyProgram", out.destroy);
  library.find("nvrtcAddNameExpression", out.add_name);
  library.find("nvrtcCompileProgram", out.compile);
  library.find("nvrtcGetProgramLogSize", out.log_size);
  library.find("nvrtcGetProgramLog", out.log);
  library.find("nvrtcGetCUBINSize", out.cubin_size);
  library.find("nvrtcGetCUBIN", out.cubin);
  library.find("nvrtcGetLoweredName", out.lowered_name);
  library.find("nvrtcGetErrorString", out.error_string);
  return out;
}

const nvrtc& compiler() {
  static const nvrtc loaded = load_nvrtc();
  return loaded;
}

void check_compiler(nvrtcResult status, const char* what) {
  if (status != NVRTC_SUCCESS) fail(errc::cannot, {what, ": ", compiler().error_string(status)});
}

/// `located`: a #line directive names the place of the macro, for messages. Machine code does not
/// depend on it.
std::string program_text(const kernel_source& of, bool located) {
  const source_text* const source = of.semiring;
  std::string text = "#include \"" + of.file + "\"\n";
  if (source == nullptr) return text + "#include \"rig/semirings.hpp\"\n";
  // Outside namespace rig, so that a name without rig:: means the same here and in the caller's
  // program.
  text += "namespace rig_user {\n";
  if (located) {
    text += "#line " + std::to_string(source->line) + " \"";
    for (const char* at = source->file; *at != '\0'; ++at) {
      if (*at == '"' || *at == '\\') text += '\\';
      text += *at;
    }
    text += "\"\n";
  }
  return text + "struct " + source->name + " { " + source->body + " };\n}\n";
}

std::vector<std::string> flags(int architecture) {
  return {"--std=c++20", "--gpu-architecture=sm_" + std::to_string(architecture),
          "--device-as-default-execution-space"};
}

/// The key that distinguishes kernels of one architecture.
std::string text_key(const kernel_source& of) {
  return of.expression + "\n" + program_text(of, false);
}

compiled_kernel compile_now(const kernel_source& of, int architecture) {
  const nvrtc& c = compiler();
  const std::shared_lock lock(compiling);
  if (process_ends)
    fail(errc::cannot, {of.expression,
                        " is compiled at run time, but the process is ending; run "
                        "the product once before exit"});
  std::vector<const char*> names, texts;
  for (const kernel_text& t : kernel_texts()) {
    names.push_back(t.name);
    texts.push_back(t.text);
  }
  const std::string text = program_text(of, true);
  nvrtcProgram made = nullptr;
  check_compiler(c.create(&made, text.c_str(), "rig.program", static_cast<int>(names.size()),
                          texts.data(), names.data()),
                 "nvrtcCreateProgram");
  struct guard {
    nvrtcProgram* program;
    ~guard() { compiler().destroy(program); }
  } const destroyed{&made};
  check_compiler(c.add_name(made, of.expression.c_str()), "nvrtcAddNameExpression");
  const std::vector<std::string> options = flags(architecture);
  std::vector<const char*> option_pointers;
  for (const std::string& option : options) option_pointers.push_back(option.c_str());
  const nvrtcResult status =
      c.compile(made, static_cast<int>(option_pointers.size()), option_pointers.data());
  // The first kernel constructs more of NVRTC's static objects.
  [[maybe_unused]] static const int registered = std::atexit(refuse_at_exit);
  if (status != NVRTC_SUCCESS) {
    std::size_t size = 0;
    c.log_size(made, &size);
    std::string log(size, '\0');
    if (size > 0) c.log(made, log.data());
    while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
    const std::string subject = of.semiring != nullptr
                                    ? std::string(of.semiring->name) + " (" + of.semiring->file +
                                          ":" + std::to_string(of.semiring->line) + ")"
                                    : of.expression;
    const char* const hint =
        log.find("std::") == log.npos
            ? ""
            : "\nThe GPU's compiler reads no standard header: use rig::maximum and "
              "rig::minimum in place of std::max and std::min";
    fail(errc::cannot, {"semiring ", subject, " does not compile for the GPU:\n", log, hint});
  }
  compiled_kernel out;
  std::size_t size = 0;
  check_compiler(c.cubin_size(made, &size), "nvrtcGetCUBINSize");
  out.cubin.resize(size);
  check_compiler(c.cubin(made, out.cubin.data()), "nvrtcGetCUBIN");
  const char* lowered = nullptr;
  check_compiler(c.lowered_name(made, of.expression.c_str(), &lowered), "nvrtcGetLoweredName");
  out.lowered_name = lowered;
  return out;
}

/// NVRTC returns only two numbers of its version, so the name, size and time of its file are added.
std::string version_of_nvrtc() {
  int major = 0, minor = 0;
  check_compiler(compiler().version(&major, &minor), "nvrtcVersion");
  std::string out = std::to_string(major) + "." + std::to_string(minor);
  std::error_code unknown;
  const auto file = std::filesystem::canonical(compiler_library().path(), unknown);
  struct stat found;
  if (unknown || stat(file.c_str(), &found) != 0) return out;
  return out + " " + file.filename().string() + " " + std::to_string(found.st_size) + " " +
         std::to_string(found.st_mtim.tv_sec) + "." + std::to_string(found.st_mtim.tv_nsec);
}

/// Everything that the machine code depends on.
std::string cache_key(const kernel_source& of, int architecture) {
  static const std::uint64_t files = [] {
    std::uint64_t h = text_hash("");
    for (const kernel_text& t : kernel_texts()) h = text_hash(t.text, text_hash(t.name, h));
    return h;
  }();
  std::string key = "files " + std::to_string(files) + "\nnvrtc " + version_of_nvrtc();
  for (const std::string& flag : flags(architecture)) key += " " + flag;
  return key + "\n" + text_key(of);
}

/// `reads`: a kernel from the disk cache may be returned.
compiled_kernel cached_or_compiled(const kernel_source& of, int architecture, bool reads) {
  const std::string key = cache_key(of, architecture);
  compiled_kernel out;
  if (reads && read_cached(key, out)) return out;
  out = compile_now(of, architecture);
  write_cached(key, out);
  return out;
}

/// A kernel in the making: the first caller compiles it, other callers of the same kernel wait.
struct slot {
  std::mutex making;
  const void* kernel = nullptr;
};

slot& slot_for(const std::string& key) {
  static std::mutex mutex;
  // Never destroyed, because a product may run while the process ends.
  static auto& slots = *new std::map<std::string, slot>;
  const std::lock_guard lock(mutex);
  return slots[key];
}

}  // namespace

const char* no_compiler_because() {
  return compiler_library().why_absent() != nullptr
             ? "is compiled at run time, and NVRTC is missing; install it, or set RIG_NVRTC to its "
               "path"
             : nullptr;
}

std::string compile_to_cubin(const kernel_source& of, int architecture, std::string& lowered_name) {
  compiled_kernel made = compile_now(of, architecture);
  lowered_name = made.lowered_name;
  return made.cubin;
}

const void* compile(const kernel_source& of, int device) {
  const int architecture = context_of(device).capability;
  slot& kept = slot_for(std::to_string(architecture) + " " + text_key(of));
  const std::lock_guard lock(kept.making);
  if (kept.kernel != nullptr) return kept.kernel;
  compiled_kernel made = cached_or_compiled(of, architecture, true);
  cudaLibrary_t library = nullptr;
  const auto load = [&] {
    return cudaLibraryLoadData(&library, made.cubin.data(), nullptr, nullptr, 0, nullptr, nullptr,
                               0);
  };
  cudaError_t status = load();
  // The driver refuses machine code from a damaged file that passed the checksum.
  if (status != cudaSuccess && status != cudaErrorMemoryAllocation) {
    cudaGetLastError();
    made = cached_or_compiled(of, architecture, false);
    status = load();
  }
  check(status, "cudaLibraryLoadData");
  cudaKernel_t kernel = nullptr;
  check(cudaLibraryGetKernel(&kernel, library, made.lowered_name.c_str()), "cudaLibraryGetKernel");
  return kept.kernel = kernel;
}

}  // namespace rig::on_cuda
