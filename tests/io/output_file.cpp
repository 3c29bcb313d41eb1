// How files are written: whole or not at all, through a file of another name; and to regular files
// only.

#include "rig/output_file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "failing_allocator.hpp"
#include "files.hpp"
#include "rig/io.hpp"

namespace fs = std::filesystem;

namespace {

/// An empty folder.
fs::path fresh(const std::string& name) {
  fs::remove_all(scratch() / name);
  fs::create_directory(scratch() / name);
  return scratch() / name;
}

long files_in(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

std::string refused(const std::string& path) {
  return refusal(rig::errc::io, [&] { rig::write_text(path, "new"); });
}

/// The permissions of a file.
int mode_of(const std::string& path) {
  struct stat found {};
  REQUIRE(stat(path.c_str(), &found) == 0);
  return static_cast<int>(found.st_mode) & 07777;
}

/// The most bytes that a file of this process may have, until the end of the scope.
struct file_limit {
  explicit file_limit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit now{bytes, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~file_limit() { setrlimit(RLIMIT_FSIZE, &before); }
  rlimit before{};
};

}  // namespace

TEST_CASE("a file appears with close, and a dropped one leaves nothing") {
  const fs::path folder = fresh("whole");
  const std::string path = folder / "a.txt";
  {
    rig::output_file file(path);
    file.text("one ");
    file.number(2.5f);
    CHECK(!fs::exists(path));
    file.close();
    CHECK(bytes_of(path) == "one 2.5");
    CHECK(files_in(folder) == 1);
  }
  {
    rig::output_file file(path);
    file.text(std::string(1 << 20, 'x'));
  }
  CHECK(bytes_of(path) == "one 2.5");
  CHECK(files_in(folder) == 1);
  rig::output_file(folder / "b.txt");
  CHECK(files_in(folder) == 1);
  // The current folder, and two files of one name at once: the one that is closed last stays.
  const fs::path before = fs::current_path();
  fs::current_path(folder);
  rig::output_file first("c"), second("c");
  second.text("second");
  first.text("first");
  second.close();
  first.close();
  fs::current_path(before);
  CHECK(bytes_of(folder / "c") == "first");
}

TEST_CASE("a name that ends in .gz gets packed bytes") {
  const fs::path folder = fresh("packed");
  std::string text;
  for (int line = 0; line < 100000; ++line) text += std::to_string(line) + "\n";
  for (const std::size_t length : {std::size_t(0), std::size_t(1), text.size()}) {
    const std::string path = folder / "text.gz";
    rig::output_file file(path);
    file.text(std::string_view(text).substr(0, length / 2));
    file.text(std::string_view(text).substr(length / 2, length - length / 2));
    file.close();
    CHECK(bytes_of(path).starts_with("\x1f\x8b"));
    CHECK(std::system(("gzip -dc " + path + " > " + path + ".plain").c_str()) == 0);
    CHECK(bytes_of(path + ".plain") == text.substr(0, length));
  }
}

TEST_CASE("a relative path names a file of the folder at the start") {
  const fs::path folder = fresh("relative"), before = fs::current_path();
  fs::create_directory(folder / "other");
  fs::current_path(folder);
  rig::output_file file("a.txt");
  fs::current_path(folder / "other");
  file.text("here");
  file.close();
  fs::current_path(before);
  CHECK(bytes_of(folder / "a.txt") == "here");
  CHECK(files_in(folder / "other") == 0);
}

TEST_CASE("a process that is killed while it writes leaves nothing") {
  const fs::path folder = fresh("killed");
  const int unnamed = ::open(folder.c_str(), O_WRONLY | O_TMPFILE, 0600);
  if (unnamed < 0) {
    MESSAGE("SKIPPED: this file system has no files without a name");
    return;
  }
  ::close(unnamed);
  const std::string path = folder / "a.txt";
  for (const bool exists : {false, true}) {
    if (exists) rig::write_text(path, "old");
    const pid_t child = fork();
    if (child == 0) {
      rig::output_file file(path);
      file.text(std::string(1 << 20, 'x'));
      ::raise(SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    REQUIRE(WIFSIGNALED(status));
    CHECK(files_in(folder) == (exists ? 1 : 0));
    if (exists) CHECK(bytes_of(path) == "old");
  }
}

TEST_CASE("a write that fails leaves the file as it was, and nothing beside it") {
  const fs::path folder = fresh("full");
  const std::string path = folder / "a.npy", matrix = folder / "a.mtx";
  rig::write_dense(path, rig::dense<float>(2, 2, 7));
  rig::write_matrix(matrix, rig::matrix<float>(3, 3));
  const std::string dense_before = bytes_of(path), matrix_before = bytes_of(matrix);
  {
    const file_limit limit(4096);
    CHECK(refusal(rig::errc::io, [&] {
            rig::write_dense(path, rig::dense<float>(1000, 1000));
          }).starts_with(path + ": cannot write: "));
    std::vector<int> place(2000);
    for (int k = 0; k < 2000; ++k) place[static_cast<std::size_t>(k)] = k;
    CHECK(refusal(rig::errc::io, [&] {
            rig::write_matrix(matrix, rig::matrix<float>::from_positions(2000, 2000, place, place));
          }).starts_with(matrix + ": cannot write: "));
  }
  CHECK(bytes_of(path) == dense_before);
  CHECK(bytes_of(matrix) == matrix_before);
  CHECK(files_in(folder) == 2);
}

TEST_CASE("a file that is closed takes no more") {
  const std::string path = fresh("closed") / "a.txt";
  rig::output_file file(path);
  file.text("one");
  file.close();
  const std::string why = path + ": cannot write: it is closed; make another output_file";
  CHECK(refusal(rig::errc::io, [&] { file.text("two"); }) == why);
  CHECK(refusal(rig::errc::io, [&] { file.number(2); }) == why);
  CHECK(refusal(rig::errc::io, [&] { file.close(); }) == why);
  CHECK(bytes_of(path) == "one");
}

TEST_CASE("every allocation of a file's start fails in turn") {
  const fs::path folder = fresh("memory");
  const std::string path = folder / (std::string(64, 'a') + ".txt"), link = folder / "link";
  fs::create_symlink(path, link);
  for (const std::string& name : {path, link}) {
    check_every_failure(
        2, [] {}, [&] { rig::output_file file(name); }, [&] { return files_in(folder) == 1; });
    CHECK(files_in(folder) == 1);
  }
}

TEST_CASE("symbolic links are followed and stay") {
  const fs::path folder = fresh("links"), other = fresh("elsewhere");
  file_of("elsewhere/real.txt", "old");
  fs::create_symlink("../elsewhere/real.txt", folder / "relative");
  fs::create_symlink(folder / "relative", folder / "absolute");
  rig::write_text(folder / "absolute", "new");
  CHECK(bytes_of(other / "real.txt") == "new");
  CHECK(fs::is_symlink(folder / "relative"));
  CHECK(fs::is_symlink(folder / "absolute"));

  fs::create_symlink("../elsewhere/none.txt", folder / "dangling");
  rig::write_text(folder / "dangling", "made");
  CHECK(bytes_of(other / "none.txt") == "made");
  CHECK(fs::is_symlink(folder / "dangling"));

  fs::create_symlink("loop", folder / "loop");
  CHECK(refused(folder / "loop").find("links") != std::string::npos);
  CHECK(files_in(folder) == 4);
  CHECK(files_in(other) == 2);
}

TEST_CASE("pipes, devices, sockets and folders are refused, and stay") {
  const fs::path folder = fresh("kinds");
  const std::string pipe = folder / "pipe", link = folder / "link", socket = folder / "socket";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  fs::create_symlink("pipe", link);
  CHECK(refused(pipe) == pipe + ": cannot write: it is a pipe; name a regular file");
  CHECK(refused(link) == link + ": cannot write: it is a pipe; name a regular file");
  CHECK(fs::is_fifo(pipe));
  CHECK(refused("/dev/null") == "/dev/null: cannot write: it is a device; name a regular file");
  CHECK(fs::is_character_file("/dev/null"));
  const int listening = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{AF_UNIX, {}};
  socket.copy(address.sun_path, sizeof(address.sun_path) - 1);
  REQUIRE(bind(listening, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  CHECK(refused(socket).find("it is a socket") != std::string::npos);
  close(listening);
  CHECK(refused(folder) == folder.string() + ": cannot write: it is a folder; name a file in it");
  CHECK(refused(folder / "none" / "a.txt").find(": cannot create: ") != std::string::npos);
  CHECK(refused("") == "'': cannot create: the path is empty; name a file");
  // A pipe without a name, as a shell passes it to a program.
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  CHECK(refused("/dev/fd/" + std::to_string(ends[1])).find("it is a pipe") != std::string::npos);
  close(ends[0]), close(ends[1]);
  CHECK(files_in(folder) == 3);
}

TEST_CASE("permissions: those of the file that is replaced, or of the process's mask") {
  const fs::path folder = fresh("permissions");
  const std::string path = folder / "a.txt";
  const mode_t mask = umask(027);
  rig::write_text(path, "new");
  umask(mask);
  CHECK(mode_of(path) == 0640);
  fs::permissions(path, fs::perms(0604));
  rig::write_text(path, "newer");
  CHECK(mode_of(path) == 0604);
  CHECK(bytes_of(path) == "newer");
  if (geteuid() == 0) {
    MESSAGE("SKIPPED: root may write to every file");
    return;
  }
  fs::permissions(path, fs::perms(0400));
  CHECK(refused(path).starts_with(path + ": cannot write: "));
  CHECK(bytes_of(path) == "newer");
  fs::permissions(path, fs::perms(0600));
  fs::permissions(folder, fs::perms(0500));
  CHECK(refused(path).starts_with(path + ": cannot create a file beside it: "));
  fs::permissions(folder, fs::perms(0700));
}
