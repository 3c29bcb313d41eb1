#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <vector>

#include "rig/kernels/erased.hpp"
#include "rig/place.hpp"

// Semirings of a program from text: a C++ compiler makes a library of each, which a folder keeps.

extern char** environ;

namespace rig {
namespace {

namespace files = std::filesystem;

constexpr const char* pair_text = R"(#include "rig/named_semiring.hpp"
@TEXT@
extern "C" [[gnu::visibility("default")]] const rig::builtin_pair* rig_own_semiring() {
  using S = rig_own::@NAME@;
  static const rig::builtin_pair pair = {S::name, rig::type_of<S::right>, &rig::on_cpu::run<S>,
      {&rig::info_of<S>, &rig::on_cpu::multiply<S>}, rig::sum_operator<S>()};
  return &pair;
}
)";
constexpr const char* check_text = R"(#include "rig/check_semiring.hpp"
#include <string>
@TEXT@
extern "C" [[gnu::visibility("default")]] const char* rig_check_own() {
  static const std::string failure = rig::check_semiring<rig_own::@NAME@>().value_or("");
  return failure.c_str();
}
)";
constexpr const char* semiring_body = R"(#include "rig/user_semiring.hpp"
namespace rig_own {
RIG_SEMIRING(@NAME@,
  using left = @TYPE@; using right = @TYPE@; using accum = @TYPE@;
  static constexpr @TYPE@ min(@TYPE@ x, @TYPE@ y) { return rig::minimum(x, y); }
  static constexpr @TYPE@ max(@TYPE@ x, @TYPE@ y) { return rig::maximum(x, y); }
  static constexpr @TYPE@ zero() { return @ZERO@; }
  static constexpr @TYPE@ add(@TYPE@ x, @TYPE@ y) { return static_cast<@TYPE@>(@ADD@); }
  static constexpr @TYPE@ multiply(@TYPE@ a, @TYPE@ b) { return static_cast<@TYPE@>(@MULTIPLY@); }@OPTIONAL@);
}
)";
constexpr const char* finish_text = R"(
  static constexpr @TYPE@ finish(@TYPE@ x, rig::int64 entries) {
    const @TYPE@ n = static_cast<@TYPE@>(entries);
    return entries == 0 ? x : static_cast<@TYPE@>(@FINISH@);
  })";
constexpr const char* terminal_text = R"(
  static constexpr @TYPE@ terminal() { return @TERMINAL@; })";

using replacement = std::pair<std::string_view, std::string>;

/// The text with each @WORD@ replaced. What is put in is not searched again.
std::string filled(std::string_view text, const std::vector<replacement>& by) {
  std::string out;
  while (!text.empty()) {
    const replacement* found = nullptr;
    for (const replacement& each : by)
      if (text.starts_with(each.first)) found = &each;
    out += found != nullptr ? std::string_view(found->second) : text.substr(0, 1);
    text.remove_prefix(found != nullptr ? found->first.size() : 1);
  }
  return out;
}

void check_text_of(const semiring_text& given) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  bool is_identifier = !given.name.empty() && is_letter(given.name.front());
  for (const char c : given.name) is_identifier &= is_letter(c) || (c >= '0' && c <= '9');
  if (!is_identifier)
    fail(errc::format,
         {"semiring: the name is '", given.name, "'; give an identifier of letters, digits and _"});
  if (given.of > type::float64)
    fail(errc::type,
         {"semiring: the type is ", given.of > type::bfloat16 ? "none of rig" : type_name(given.of),
          "; give one of float32, float64, int32, int64, bool"});
  const std::pair<const char*, const std::string*> needed[] = {
      {"add", &given.add}, {"multiply", &given.multiply}, {"zero", &given.zero}};
  for (const auto& [which, text] : needed)
    if (text->find_first_not_of(" \t\n") == std::string::npos)
      fail(errc::format,
           {"semiring: ", which, " is '", *text, "'; give a C++ expression, such as 'x + y'"});
}

std::string text_of(const semiring_text& given, const char* around) {
  static constexpr const char* types[] = {"bool", "rig::int32", "rig::int64", "float", "double"};
  std::vector<replacement> by = {{"@NAME@", given.name},         {"@ADD@", given.add},
                                 {"@MULTIPLY@", given.multiply}, {"@ZERO@", given.zero},
                                 {"@FINISH@", given.finish},     {"@TERMINAL@", given.terminal}};
  by.emplace_back("@TYPE@", types[static_cast<int>(given.of)]);
  by.emplace_back("@OPTIONAL@", (given.finish.empty() ? "" : filled(finish_text, by)) +
                                    (given.terminal.empty() ? "" : filled(terminal_text, by)));
  by.emplace_back("@TEXT@", filled(semiring_body, by));
  return filled(around, by);
}

std::string variable(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream from(text);
  std::vector<std::string> out;
  for (std::string word; from >> word;) out.push_back(word);
  return out;
}

/// The folder of the libraries, which no other user may write to.
files::path cache_folder() {
  const std::string home = variable("HOME", "");
  const files::path root =
      variable("XDG_CACHE_HOME", home.empty() ? "" : (home + "/.cache").c_str());
  if (root.empty())
    fail(errc::io, {"semiring: neither HOME nor XDG_CACHE_HOME is set; set one to a folder"});
  files::path folder = root / "rigblas";
  std::error_code failure;
  files::create_directories(root, failure);
  ::mkdir(folder.c_str(), 0700);
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    fail(errc::io, {"semiring: the folder ", folder.string(),
                    " cannot be made; set XDG_CACHE_HOME to a folder of yours"});
  if (status.st_uid != ::geteuid())
    fail(errc::format, {"semiring: ", folder.string(),
                        " belongs to another user; set XDG_CACHE_HOME to a folder of yours"});
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    fail(errc::format, {"semiring: other users may write to ", folder.string(),
                        "; take that right away (chmod go-w), or set XDG_CACHE_HOME"});
  return folder;
}

/// The file of the library that this code is in.
files::path this_library() {
  Dl_info found{};
  if (::dladdr(reinterpret_cast<const void*>(&compile_semiring), &found) == 0 ||
      !files::path(found.dli_fname).filename().string().starts_with("librig"))
    fail(errc::cannot, {"semiring: rig is linked statically, and a semiring from text is linked "
                        "with librig.so; link the program with the shared library"});
  return files::canonical(found.dli_fname);
}

/// The options for the headers: they are beside the library, above its folder, in the package of
/// Python that it belongs to, or where a build folder outside the sources has a link to them.
std::vector<std::string> include_options(const files::path& library) {
  std::vector<std::string> out;
  bool is_whole = false;
  for (files::path at = library.parent_path(); !is_whole && at.has_relative_path();
       at = at.parent_path())
    for (const files::path& include :
         {at / "include", at / "rigblas/include", at / "sources/include"})
      if (files::is_directory(include / "rig")) {
        out.push_back("-I" + include.string());
        is_whole = is_whole || files::exists(include / "rig/rig.hpp");
      }
  if (!is_whole)
    fail(errc::cannot, {"semiring: no folder above ", library.string(),
                        " has include/rig/rig.hpp; install the headers of rig with the library"});
  return out;
}

/// Two hashes (FNV-1a) of everything that the library depends on, as a name.
std::string key_of(const std::vector<std::string>& parts) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (std::uint64_t hash : {0xcbf29ce484222325u, 0x84222325cbf29ce4u}) {
    for (const std::string& part : parts)
      for (std::size_t at = 0; at <= part.size(); ++at)  // the null between parts, too
        hash = (hash ^ static_cast<unsigned char>(part.c_str()[at])) * 0x100000001b3u;
    for (int shift = 60; shift >= 0; shift -= 4) out += digits[(hash >> shift) & 15];
  }
  return out;
}

/// Runs a program with its output in a file. Returns its status, or -1 if it does not start.
int run_program(const std::vector<std::string>& command, const files::path& output) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
  ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  const int failure =
      ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) return -1;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return errno == ECHILD ? 0 : 1;  // a program may ignore its children
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/// The first lines with an error, or the first lines.
std::string errors_in(const files::path& output) {
  std::string errors, all;
  int count = 0, lines = 0;
  std::ifstream from(output);
  for (std::string line; std::getline(from, line);) {
    if (lines++ < 5) all += line + "\n";
    if (line.find("error") != std::string::npos && count++ < 5) errors += line + "\n";
  }
  std::string& out = errors.empty() ? all : errors;
  if (!out.empty()) out.pop_back();
  return out;
}

/// A folder that is removed with what is in it.
struct temporary_folder {
  std::string path;
  explicit temporary_folder(const files::path& in) : path((in / "XXXXXX").string()) {
    if (::mkdtemp(path.data()) == nullptr)
      fail(errc::io,
           {"semiring: no folder can be made in ", in.string(), ": ", std::strerror(errno)});
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    files::remove_all(path, ignored);
  }
};

/// The bytes of a file; none if it cannot be read.
std::string contents_of(const files::path& path) {
  std::ifstream from(path, std::ios::binary);
  std::ostringstream to;
  if (from) to << from.rdbuf();
  return to.str();
}

/// Writes the hash of its bytes behind a library. The loader reads no bytes there.
void seal(const files::path& library) {
  const std::string hash = key_of({contents_of(library)});
  std::ofstream(library, std::ios::binary | std::ios::app) << hash;
}

/// Whether a library is as it was sealed. To load another one can end the process.
bool is_sealed(const files::path& library) {
  std::string bytes = contents_of(library);
  const std::size_t size = key_of({}).size();
  if (bytes.size() < size) return false;
  const std::string hash = bytes.substr(bytes.size() - size);
  bytes.resize(bytes.size() - size);
  return hash == key_of({bytes});
}

/// The library of a text, compiled unless the folder has it undamaged, and it may be `kept`.
files::path compiled(const std::string& name, const std::string& text, bool may_be_kept) {
  const std::string compiler = variable("CXX", "g++");
  const files::path library = this_library();
  std::vector<std::string> command = words_of(compiler);
  for (const char* const flag :
       {"-std=c++20", "-O2", "-fPIC", "-shared", "-fopenmp", "-fvisibility=hidden"})
    command.push_back(flag);
  for (const std::string& flag : words_of(variable("CXXFLAGS", ""))) command.push_back(flag);
  std::vector<std::string> parts = command;
  const auto written = files::last_write_time(library).time_since_epoch().count();
  for (const std::string& part :
       {text, std::string(version()), library.string(), std::to_string(written)})
    parts.push_back(part);
  const files::path folder = cache_folder();
  files::path target = folder / (name + "-" + key_of(parts) + ".so");
  if (may_be_kept && is_sealed(target)) return target;
  const std::string reason = files::exists(target) ? target.string() + " is damaged, and " : "";

  const temporary_folder within(folder);
  const files::path source = files::path(within.path) / "semiring.cpp",
                    made = files::path(within.path) / "semiring.so",
                    output = files::path(within.path) / "output";
  std::ofstream to(source);
  to << text;
  to.close();
  if (!to) fail(errc::io, {"semiring: ", source.string(), " cannot be written"});
  for (const std::string& option : include_options(library)) command.push_back(option);
  for (const std::string& word : {source.string(), std::string("-o"), made.string(),
                                  library.string(), "-Wl,-rpath," + library.parent_path().string()})
    command.push_back(word);
  const int status = run_program(command, output);
  if (status == -1 || status == 127)
    fail(errc::cannot, {"semiring: ", reason, compiler,
                        " is not there, and a semiring of your own is compiled; install g++ "
                        "(apt-get install g++), or set CXX to a C++20 compiler"});
  if (status != 0 || !files::exists(made))
    fail(errc::format, {"semiring: ", reason, name, " does not compile: ", errors_in(output)});
  seal(made);
  std::error_code failure;
  files::rename(made, target, failure);
  if (failure)
    fail(errc::io, {"semiring: ", target.string(), " cannot be replaced (", failure.message(),
                    "); remove it"});
  return target;
}

/// A function of a text, whose library stays loaded. One that does not load is compiled again.
template <class Function>
Function function_of(const std::string& name, const std::string& text, const char* symbol) {
  files::path path;
  for (const bool may_be_kept : {true, false}) {
    path = compiled(name, text, may_be_kept);
    void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const found = library != nullptr ? ::dlsym(library, symbol) : nullptr;
    if (found != nullptr) return reinterpret_cast<Function>(found);
    // While it is open, the next library of this path is this one.
    if (library != nullptr) ::dlclose(library);
  }
  constexpr const char* remedy =
      "; remove it, and set CXX to a compiler for this machine, or XDG_CACHE_HOME to a folder from "
      "which programs may run";
  const char* const reason = ::dlerror();
  fail(errc::cannot, {"semiring: ", path.string(), " was compiled, but does not load: ",
                      reason != nullptr ? reason : "it has no semiring", remedy});
}

}  // namespace

const builtin_pair& compile_semiring(const semiring_text& given) {
  check_text_of(given);
  try {
    if (given.is_checked) {  // first, because the kernels take longer to compile
      using check = const char* (*)();
      const std::string text = text_of(given, check_text);
      const std::string failure = function_of<check>(given.name, text, "rig_check_own")();
      if (!failure.empty())
        fail(errc::format, {"semiring: ", given.name, " breaks a law: ", failure});
    }
    using get = const builtin_pair* (*)();
    return *function_of<get>(given.name, text_of(given, pair_text), "rig_own_semiring")();
  } catch (const files::filesystem_error& failure) {
    fail(errc::io, {"semiring: ", failure.what()});
  }
}

}  // namespace rig
