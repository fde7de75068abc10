/*
 * A file system with one file, disk.img, that logs every write and every flush. With a loop device on that file, the log
 * holds all that reaches the "disk" and says when the disk was told to make it permanent.
 *
 *   logged-disk <backing file> <log file> <mount point>
 *
 * Returns when mounted and serves on in the background until unmounted. A record of the log, in the machine's byte
 * order: kind (1 write, 2 flush) and length, 4 bytes each, offset, 8 bytes, then the data of a write. A record is in the
 * log before the request it stands for is answered. Requests are served one by one, so the log's order is the disk's. A
 * write that was still under way when a flush was sent may stand before it and then counts as flushed; disks promise less.
 */
#define FUSE_USE_VERSION 31
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *const disk_path = "/disk.img";
static int disk, record_log;

static int append_record(uint32_t kind, off_t offset, const char *data, size_t length) {
  struct {
    uint32_t kind, length;
    uint64_t offset;
  } head = {kind, (uint32_t)length, (uint64_t)offset};
  struct iovec parts[] = {{&head, sizeof head}, {(void *)data, length}};
  return writev(record_log, parts, 2) == (ssize_t)(sizeof head + length) ? 0 : -EIO;
}

static int disk_getattr(const char *path, struct stat *status, struct fuse_file_info *file) {
  (void)file;
  if (strcmp(path, disk_path) == 0) return fstat(disk, status) ? -errno : 0;
  if (strcmp(path, "/") != 0) return -ENOENT;
  *status = (struct stat){.st_mode = S_IFDIR | 0700, .st_nlink = 2};
  return 0;
}

static int disk_open(const char *path, struct fuse_file_info *file) {
  (void)path;
  file->direct_io = 1; /* No page cache in between: it would merge and delay writes. */
  return 0;
}

static int disk_read(const char *path, char *data, size_t length, off_t offset, struct fuse_file_info *file) {
  (void)path, (void)file;
  ssize_t count = pread(disk, data, length, offset);
  return count < 0 ? -errno : (int)count;
}

static int disk_write(const char *path, const char *data, size_t length, off_t offset, struct fuse_file_info *file) {
  (void)path, (void)file;
  if (append_record(1, offset, data, length)) return -EIO;
  ssize_t count = pwrite(disk, data, length, offset);
  return count < 0 ? -errno : (int)count;
}

static int disk_fsync(const char *path, int data_only, struct fuse_file_info *file) {
  (void)path, (void)data_only, (void)file;
  return append_record(2, 0, NULL, 0);
}

/* No fallocate: the loop device then turns its requests to zero a range into writes, which are logged. */
static const struct fuse_operations operations = {
    .getattr = disk_getattr,
    .open = disk_open,
    .read = disk_read,
    .write = disk_write,
    .fsync = disk_fsync,
};

int main(int argc, char **argv) {
  if (argc != 4) return fprintf(stderr, "logged-disk <backing file> <log file> <mount point>\n"), 2;
  disk = open(argv[1], O_RDWR | O_CLOEXEC);
  record_log = open(argv[2], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (disk < 0 || record_log < 0) return perror("logged-disk"), 1;
  char *arguments[] = {argv[0], "-s", argv[3], NULL};
  return fuse_main(3, arguments, &operations, NULL);
}
