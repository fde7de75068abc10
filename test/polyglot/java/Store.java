import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * One user's files during one call, reached through open folders only, and no link followed. Java has them on Linux; elsewhere
 * every call fails.
 *
 * <p>Three things Java cannot do by an open folder. It makes a folder by its path: who swaps the folder around it at that moment gets
 * an empty one somewhere else, and nothing is put in there, for it is then looked for here. It counts the names of a file by its
 * path: that number is believed when it is told of the same file. And it looks at a file before it opens it, not after: who can
 * write in a user's folder, and puts a hard link or a pipe there in between, has that read, or makes the call wait.
 */
final class Store implements Closeable {
    /** Where a file lies. */
    record Place(String scope, String path) {
        String name() {
            return path.substring(path.lastIndexOf('/') + 1);
        }
    }

    private record Folder(SecureDirectoryStream<Path> handle, Path path) {}

    private static final FileAttribute<?> FOLDER_MODE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    private static final FileAttribute<?> FILE_MODE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    private final Path dataDir;
    private final String folderName;
    private final Map<Path, Folder> opened = new HashMap<>();
    private FileChannel lock;
    private Folder user;
    private Folder own;

    Store(Path dataDir, String folderName) {
        this.dataDir = dataDir;
        this.folderName = folderName;
    }

    void open(boolean mayChange) throws IOException {
        try {
            user = enter(enter(data(), "users", false), folderName, false);
        } catch (NoSuchFileException cause) {
            return; // there is no data folder yet
        }
        if (user != null && mayChange) lock();
    }

    /** The operator's choice: may be a link. */
    private Folder data() throws IOException {
        return hold(Files.newDirectoryStream(dataDir), dataDir);
    }

    private Folder hold(DirectoryStream<Path> stream, Path path) {
        var folder = new Folder((SecureDirectoryStream<Path>) stream, path);
        opened.put(path, folder);
        return folder;
    }

    private Folder enter(Folder parent, String name, boolean make) throws IOException {
        if (parent == null) return null;
        Path path = parent.path.resolve(name);
        if (opened.containsKey(path)) return opened.get(path);
        if (make) {
            try {
                Files.createDirectory(path, FOLDER_MODE);
            } catch (FileAlreadyExistsException cause) {
                // which is as good
            }
        }
        BasicFileAttributes status = look(parent, name);
        if (status == null) return null;
        if (!status.isDirectory())
            throw new Host.Refusal(
                    "STORAGE_UNSAFE", "Cannot open the user's folder: something else lies in a folder's place");
        return hold(parent.handle.newDirectoryStream(Path.of(name), NOFOLLOW_LINKS), path);
    }

    /** Keeps every other host out until the call is over, or is BUSY: the caller may come back. */
    private void lock() throws IOException {
        own = enter(user, ".memcell", true);
        BasicFileAttributes status = look(own, "lock");
        if (status != null && !status.isRegularFile()) throw new IOException("The lock is no file");
        lock = file(own, "lock", StandardOpenOption.WRITE, StandardOpenOption.CREATE);
        if (lock.tryLock() == null) throw busy();
    }

    /** The folder that a file lies in. */
    private Folder parent(Place place, boolean make) throws IOException {
        Folder folder = enter(user, place.scope, make);
        String[] names = place.path.split("/");
        for (int at = 0; at < names.length - 1; at++) folder = enter(folder, names[at], make);
        return folder;
    }

    byte[] read(Place place) throws IOException {
        Folder folder = parent(place, false);
        BasicFileAttributes status = folder == null ? null : look(folder, place.name());
        if (status == null) return null;
        String reason = unfit(folder, place.name(), status);
        if (reason != null)
            throw new Host.Refusal("STORAGE_UNSAFE", "Cannot use " + Host.quoted(place.path) + ": " + reason);
        try (var file = file(folder, place.name(), StandardOpenOption.READ)) {
            return Channels.newInputStream(file).readNBytes(Host.FILE_BYTES_MAX);
        }
    }

    /** The bytes of every file of a scope, without what could not be read. */
    Map<String, Long> sizes(String scope) throws IOException {
        var found = new TreeMap<String, Long>();
        Folder top = enter(user, scope, false);
        if (top != null) walk(top, "", found);
        return found;
    }

    private void walk(Folder folder, String prefix, Map<String, Long> found) throws IOException {
        for (String name : names(folder)) {
            BasicFileAttributes status = look(folder, name);
            if (status == null || !Host.isPath(prefix + name)) continue;
            if (status.isDirectory()) walk(enter(folder, name, false), prefix + name + "/", found);
            else if (unfit(folder, name, status) == null) found.put(prefix + name, status.size());
        }
    }

    /** What was moved to the trash, then removals, then all else: nothing is gone before it is somewhere else. */
    void apply(Map<Place, byte[]> staged) throws IOException {
        if (staged.isEmpty()) return;
        if (own == null) { // nobody had ever written when this call began
            Files.createDirectories(dataDir, FOLDER_MODE);
            user = enter(enter(data(), "users", true), folderName, true);
            lock();
            if (!names(user).equals(Set.of(".memcell"))) throw busy(); // somebody else was first
        }
        for (var each : staged.entrySet())
            if (each.getValue() != null && Host.isTrash(each.getKey().path)) replace(each.getKey(), each.getValue());
        for (var each : staged.entrySet()) {
            Folder folder = each.getValue() == null ? parent(each.getKey(), false) : null;
            if (folder != null) delete(folder, each.getKey().name());
        }
        for (var each : staged.entrySet())
            if (each.getValue() != null && !Host.isTrash(each.getKey().path)) replace(each.getKey(), each.getValue());
    }

    /** A crash leaves the old file or the new one, whole. */
    private void replace(Place place, byte[] content) throws IOException {
        Folder folder = parent(place, true);
        delete(own, "new");
        try (var file = file(own, "new", StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW)) {
            Channels.newOutputStream(file).write(content);
            file.force(true);
        }
        own.handle.move(Path.of("new"), folder.handle, Path.of(place.name()));
        try (var itself = file(folder, ".", StandardOpenOption.READ)) {
            itself.force(true);
        }
    }

    private static void delete(Folder folder, String name) throws IOException {
        if (look(folder, name) != null) folder.handle.deleteFile(Path.of(name));
    }

    /** What lies here under a name, a link as itself; null when nothing does. */
    private static BasicFileAttributes look(Folder folder, String name) throws IOException {
        try {
            return folder.handle
                    .getFileAttributeView(Path.of(name), BasicFileAttributeView.class, NOFOLLOW_LINKS)
                    .readAttributes();
        } catch (NoSuchFileException cause) {
            return null;
        }
    }

    /** Why a file is not used: a second name may be another user's, and a giant may be sparse. */
    private static String unfit(Folder folder, String name, BasicFileAttributes status) throws IOException {
        if (status.isSymbolicLink()) return "a link is in its place";
        if (!status.isRegularFile()) return "it is not a regular file";
        var told = Files.readAttributes(folder.path.resolve(name), "unix:nlink,fileKey", NOFOLLOW_LINKS);
        if (!status.fileKey().equals(told.get("fileKey"))) throw new IOException("The folder has been moved");
        if (!told.get("nlink").equals(1))
            return "it has " + told.get("nlink") + " names on the disk, only 1 is allowed";
        if (status.size() > Host.FILE_BYTES_MAX)
            return "it is " + status.size() + " bytes, at most " + Host.FILE_BYTES_MAX + " allowed";
        return null;
    }

    private static FileChannel file(Folder folder, String name, OpenOption... how) throws IOException {
        Set<OpenOption> options = new HashSet<>(List.of(how));
        options.add(NOFOLLOW_LINKS);
        return (FileChannel) folder.handle.newByteChannel(Path.of(name), options, FILE_MODE);
    }

    private static Set<String> names(Folder folder) throws IOException {
        var names = new HashSet<String>();
        // A folder's own stream tells its names only once.
        try (var entries = folder.handle.newDirectoryStream(Path.of("."), NOFOLLOW_LINKS)) {
            for (Path each : entries) names.add(each.getFileName().toString());
        }
        return names;
    }

    private static Host.Refusal busy() {
        return new Host.Refusal("BUSY", "Cannot use the user's folder: it is in use");
    }

    @Override
    public void close() throws IOException {
        for (Folder each : opened.values()) each.handle.close();
        if (lock != null) lock.close();
    }
}
