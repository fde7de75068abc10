import static java.lang.Character.*;
import static java.nio.charset.StandardCharsets.UTF_16;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static java.nio.file.StandardOpenOption.*;
import static java.nio.file.attribute.PosixFilePermissions.*;

import com.dylibso.chicory.compiler.*;
import com.dylibso.chicory.log.SystemLogger;
import com.dylibso.chicory.runtime.*;
import com.dylibso.chicory.wasm.*;
import com.dylibso.chicory.wasm.types.*;
import com.google.gson.*;
import java.io.*;
import java.nio.channels.*;
import java.nio.file.*;
import java.nio.file.attribute.*;
import java.security.*;
import java.time.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.extism.sdk.chicory.*;

/**
 * Hosts a memcell plugin under the Extism Chicory SDK: the capability ABI, version 1, over a folder for each user. On
 * Linux: elsewhere Java has no open folders, and every call fails.
 *
 * <p>Copy this file. A plugin gets no network, no WASI and no environment. Its only files are those of the scopes that its
 * manifest names for the tool, in the folder of the call's user.
 *
 * <p>This host leaves to you: quotas for a user's folder and for a call, an audit log, a queue, and a write-ahead log (a
 * power cut, or an interrupt of the calling thread, between two files of one call keeps only the first). Audit a plugin
 * file first ({@code memcell audit}), and pin it by its SHA-256.
 */
public final class Host {
    private static final int INPUT_BYTES_MAX = 512 * 1024, OUTPUT_BYTES_MAX = 512 * 1024, FILE_BYTES_MAX = 2 << 20;
    private static final int REQUESTS_MAX = 10_000;
    private static final int KERNEL_PAGES_MAX = 1024; // pages of 64 KiB, for requests, replies and answers
    private static final int STACK_BYTES = 16 << 20; // a plugin recurses on its thread's stack
    /** Each capability: the right it needs and the keys of its request. */
    private static final Map<String, Capability> CAPABILITIES = Map.of(
            "store_read", new Capability("read", Set.of("scope", "path")),
            "store_list", new Capability("list", Set.of("scope", "prefix")),
            "store_write", new Capability("write", Set.of("scope", "path", "content")),
            "store_trash", new Capability("trash", Set.of("scope", "path")),
            "clock_now", new Capability("clock", Set.of()));
    /** The functions of Extism's kernel that a plugin may import: no variables, no HTTP. */
    private static final Pattern KERNEL_FUNCTIONS = Pattern.compile("alloc|config_get|error_set|free|input_length"
            + "|input_load_u(8|64)|length|(load|store)_u(8|64)|log_(debug|error|info|warn)|output_set");
    /** Codes that a guest may report on its own, besides those that its manifest declares. */
    private static final Pattern GUEST_CODES =
            Pattern.compile("INPUT_INVALID|ENTRY_NOT_FOUND|ENTRY_UNREADABLE|NAME_RESERVED|NAME_CONFLICT"
                    + "|VERSION_CONFLICT|QUOTA_EXCEEDED|CAPABILITY_DENIED|GUEST_TRAPPED|FUEL_EXHAUSTED|MEMORY_EXCEEDED");

    private static final Pattern PATH = Pattern.compile("[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*");
    private static final String FOLDER_TAKEN = "Cannot open the user's folder: something else is in a folder's place";
    private static final Pattern HALF = Pattern.compile("\\p{Cs}");
    private static final Pattern UNFIT_USER_ID =
            Pattern.compile("[\\p{Cc}\\p{Cs}/\\\\]|^[\\p{Z}\\x{feff}]|[\\p{Z}\\x{feff}]\\z|^\\.{0,2}\\z");
    private static final Set<Byte> HIDDEN = Set.of(CONTROL, FORMAT, LINE_SEPARATOR, PARAGRAPH_SEPARATOR, SURROGATE);
    private static final Gson GSON =
            new GsonBuilder().setStrictness(Strictness.STRICT).create();

    private record Capability(String right, Set<String> keys) {}

    private record Tool(String name, String export, String audience, Set<String> scopes, Set<String> rights) {}

    /** An error code that the plugin declares. */
    private record Declared(String code) {}

    private record Manifest(int abi, List<Tool> tools, List<Declared> errors, int deadlineMs) {}

    /** An error of the contract: a code, and a message for a model that reveals nothing about the machine. */
    public static final class Refusal extends RuntimeException {
        public final JsonObject envelope;
        final String code;

        Refusal(String code, String message) {
            super(message);
            this.code = code;
            envelope = object("ok", false, "error", object("code", code, "message", message));
        }
    }

    private final Path dataDir;
    private final Manifest manifest;
    private final WasmModule module;
    private final Function<Instance, Machine> machine;
    private final ConfigProvider config;
    private final int deadlineMs;

    /** Throws a Refusal if the file is not the pinned one, or not a plugin. Limits lower the manifest's, or are null. */
    public Host(Path plugin, Path dataDir, String sha256, Integer fuelPolls, Integer deadlineMs) throws Exception {
        byte[] wasm = Files.readAllBytes(plugin);
        if (sha256 != null && !sha256.equals(sha256(wasm)))
            throw new Refusal("PLUGIN_REFUSED", "Cannot load the plugin: it is not the pinned file");
        try {
            // `memcell audit` judges the rest of the file.
            var found = new ArrayList<byte[]>();
            var parser = Parser.builder().includeSectionId(SectionId.CUSTOM).build();
            parser.parse(new ByteArrayInputStream(wasm), section -> {
                if (section instanceof UnknownCustomSection custom
                        && custom.name().equals("memcell:manifest")) found.add(custom.bytes());
            });
            manifest = GSON.fromJson(decoded(found.get(0)), Manifest.class);
            for (Tool each : manifest.tools)
                List.of(each.name, each.export, each.audience, each.scopes, each.rights); // throws if one is missing
            if (found.size() != 1 || manifest.abi != 1) throw new IllegalArgumentException("not one manifest of ABI 1");
            this.dataDir = dataDir;
            this.deadlineMs = Math.min(manifest.deadlineMs, deadlineMs == null ? manifest.deadlineMs : deadlineMs);
            var fuel = fuelPolls == null ? Map.<String, String>of() : Map.of("memcell.fuelPolls", fuelPolls.toString());
            config = ConfigProvider.ofMap(fuel);
            // Without the SDK's Plugin, which parses and compiles the file for every instance.
            module = Parser.parse(wasm);
            var compiler = MachineFactoryCompiler.builder(module);
            machine = compiler.withInterpreterFallback(InterpreterFallback.FAIL).compile();
            new Call(null, null, 0).link(); // link once, so that a file that imports more is refused now
        } catch (RuntimeException | StackOverflowError cause) {
            throw new Refusal("PLUGIN_REFUSED", "Cannot load the plugin: it is no plugin of ABI version 1");
        }
    }

    /** Calls a tool for a model, with the machine's time. */
    public JsonObject call(String name, String input, String userId) throws InterruptedException {
        return call(name, input, userId, "model", System.currentTimeMillis());
    }

    /** Answers a JSON input: {"ok": true, "message", "data"} or {"ok": false, "error": {"code", "message"}}. */
    public JsonObject call(String name, String input, String userId, String audience, long epochMs)
            throws InterruptedException {
        try {
            var tools = new LinkedHashMap<String, Tool>();
            for (Tool each : manifest.tools) if (each.audience.equals(audience)) tools.put(each.name, each);
            Tool tool = tools.get(name);
            if (tool == null) {
                String reason = ": no such tool, allowed: " + String.join(", ", tools.keySet());
                throw new Refusal("TOOL_UNKNOWN", "Cannot call " + quoted(name) + reason);
            }
            String subject = "Cannot call a tool: ctx.userId is ";
            if (userId == null) throw new Refusal("USER_REQUIRED", subject + "missing, every call needs a user");
            String odd = ", allowed: 1 to 128 bytes without control characters, \"/\", \"\\\", leading or trailing"
                    + " space, and other than \".\" and \"..\"";
            if (UNFIT_USER_ID.matcher(userId).find() || userId.getBytes(UTF_8).length > 128)
                throw new Refusal("USER_INVALID", subject + quoted(userId) + odd);
            byte[] text = null;
            try {
                String json = GSON.fromJson(input, JsonElement.class).toString();
                // Half of a surrogate pair reaches the plugin unchanged, and the plugin refuses it.
                text = HALF.matcher(json)
                        .replaceAll(half -> "\\\\u%04x".formatted(half.group().codePointAt(0)))
                        .getBytes(UTF_8);
            } catch (JsonParseException | NullPointerException cause) {
                // not JSON
            }
            if (text == null || text.length > INPUT_BYTES_MAX) {
                String found = text == null ? "not serialisable" : text.length + " bytes of JSON";
                String most = text == null ? "a JSON object" : "at most " + INPUT_BYTES_MAX + " bytes";
                String message = "Cannot call " + name + ": input is " + found + ", allowed: " + most;
                var refusal = new Refusal("INPUT_INVALID", message);
                var issues = List.of(object("field", "input", "value", found, "allowed", most));
                refusal.envelope.getAsJsonObject("error").add("issues", GSON.toJsonTree(issues));
                throw refusal;
            }
            // One call at a time in all hosts, because Java's file locks keep out other processes, but not other threads.
            synchronized (Host.class) {
                try (var files = new UserFiles()) {
                    files.open(dataDir, folderName(userId), false);
                    boolean mayChange = tool.rights.contains("write") || tool.rights.contains("trash");
                    if (mayChange && files.user != null) files.lock();
                    var call = new Call(tool, files, epochMs);
                    JsonObject envelope = run(call, text);
                    if (envelope.get("ok").getAsBoolean()) files.apply(call.staged, dataDir, folderName(userId));
                    return envelope;
                }
            }
        } catch (Refusal refusal) {
            return refusal.envelope;
        } catch (FileAlreadyExistsException cause) { // another host has the lock, or has created a folder
            return new Refusal("BUSY", "Cannot use the user's folder: it is in use").envelope;
        } catch (IOException | GeneralSecurityException cause) {
            return new Refusal("STORAGE_FAILED", "Cannot use the user's folder: the disk refused").envelope;
        } catch (RuntimeException | OutOfMemoryError cause) { // from the engine, before a thread was started
            return new Refusal("GUEST_TRAPPED", "Cannot finish the call: the plugin cannot be started").envelope;
        }
    }

    /** Runs the tool on a thread, and waits until the thread has ended. */
    private JsonObject run(Call call, byte[] input) throws IOException, InterruptedException {
        var outcome = new FutureTask<>(() -> call.run(input));
        var thread = new Thread(null, outcome, "plugin", STACK_BYTES);
        String subject = "Cannot finish " + call.tool.name + ": ";
        thread.start();
        try {
            JsonObject envelope = outcome.get(deadlineMs, TimeUnit.MILLISECONDS);
            if (call.denial != null) throw call.denial;
            return envelope;
        } catch (TimeoutException cause) {
            throw new Refusal("DEADLINE_EXCEEDED", subject + "it ran for over " + deadlineMs + " ms");
        } catch (ExecutionException failure) {
            if (failure.getCause() instanceof UncheckedIOException cause) throw cause.getCause();
            if (call.denial != null) throw call.denial; // ends the call, whatever the guest did afterwards
            if (failure.getCause() instanceof Refusal refusal) throw refusal;
            throw new Refusal("GUEST_TRAPPED", subject + "the plugin's code crashed");
        } finally {
            while (thread.isAlive()) { // the engine checks for an interrupt at every loop iteration and call
                thread.interrupt();
                thread.join(10);
            }
        }
    }

    /** An instance with its own kernel, and the state of its capabilities. Changes are applied if the call succeeds. */
    private final class Call {
        final HostEnv env = new HostEnv(new Kernel(), config, null, false, null, new SystemLogger());
        final Map<String, byte[]> staged = new LinkedHashMap<>(); // by scope/path; null for no file
        final Set<String> told = new HashSet<>();
        final Tool tool;
        final UserFiles files;
        final long epochMs;
        Refusal denial;
        int requests;

        Call(Tool tool, UserFiles files, long epochMs) {
            this.tool = tool;
            this.files = files;
            this.epochMs = epochMs;
        }

        Instance link() {
            var imports = ImportValues.builder();
            for (HostFunction each : env.toHostFunctions()) {
                String name = each.name();
                if (KERNEL_FUNCTIONS.matcher(name).matches())
                    imports.addFunction(new HostFunction(each.module(), name, each.functionType(), (of, arguments) -> {
                        if (name.startsWith("log_")) return new long[0]; // a plugin's log lines are dropped
                        checkRoom(name.equals("alloc") ? arguments[0] : 0);
                        return each.handle().apply(of, arguments);
                    }));
            }
            var type = FunctionType.of(List.of(ValType.I64), List.of(ValType.I64));
            for (String name : CAPABILITIES.keySet())
                imports.addFunction(new HostFunction(
                        "extism:host/user", name, type, (of, handle) -> new long[] {reply(name, handle[0])}));
            var instance = Instance.builder(module).withImportValues(imports.build());
            instance.withMemoryFactory(ByteArrayMemory::new).withMachineFactory(machine);
            return instance.withStart(false).build();
        }

        JsonObject run(byte[] input) {
            env.setInput(input);
            long code = link().export(tool.export).apply()[0];
            String error = env.getError();
            if (!error.isEmpty()) return judgedError(error);
            if (code != 0) throw new IllegalStateException("failed without an error");
            byte[] output = env.getOutput();
            String subject = "Cannot use the answer of " + tool.name + ": ";
            if (output.length > OUTPUT_BYTES_MAX) {
                String found = "its answer is " + output.length + " bytes, at most " + OUTPUT_BYTES_MAX + " allowed";
                throw new Refusal("OUTPUT_TOO_LARGE", "Cannot finish " + tool.name + ": " + found);
            }
            if (decoded(output) instanceof JsonObject envelope
                    && envelope.keySet().equals(Set.of("ok", "message", "data"))
                    && envelope.get("ok").equals(new JsonPrimitive(true))
                    && isString(envelope.get("message"))) return envelope;
            throw new Refusal("OUTPUT_INVALID", subject + "its output is not a success envelope");
        }

        JsonObject judgedError(String text) {
            String subject = "Cannot use the answer of " + tool.name + ": ";
            JsonElement json = decoded(text.getBytes(UTF_8));
            if (json == null) throw new IllegalStateException("failed without an envelope");
            if (!(json instanceof JsonObject envelope)
                    || !envelope.keySet().equals(Set.of("ok", "error"))
                    || !envelope.get("ok").equals(new JsonPrimitive(false))
                    || !(envelope.get("error") instanceof JsonObject error)
                    || !Set.of("code", "message", "issues").containsAll(error.keySet())
                    || !isString(error.get("message"))
                    || !isString(error.get("code"))
                    || !error.get("code").getAsString().matches("[A-Z_]{1,64}"))
                throw new Refusal("OUTPUT_INVALID", subject + "its error is not a failed envelope");
            String code = error.get("code").getAsString();
            boolean isOwn = manifest.errors != null && manifest.errors.contains(new Declared(code));
            if (isOwn || GUEST_CODES.matcher(code).matches() || told.contains(code)) return envelope;
            throw new Refusal("OUTPUT_INVALID", subject + "it reports " + code + ", a code that it neither declares nor received");
        }

        /** Gives the kernel's memory a maximum; it has none. */
        void checkRoom(long bytes) {
            if (bytes >>> 16 > KERNEL_PAGES_MAX - env.memory().memory().pages())
                throw new Refusal("MEMORY_EXCEEDED", "Cannot finish the call: no memory is left for another block");
        }

        long reply(String name, long handle) {
            byte[] request = new byte[0];
            try {
                request = env.memory().readBytes(handle);
            } catch (WasmRuntimeException cause) {
                // Not a block. For some such handles the kernel would read beyond its memory.
            }
            JsonObject reply;
            try {
                reply = answer(name, request);
            } catch (Refusal refusal) {
                told.add(refusal.code);
                if (denial == null && refusal.code.equals("CAPABILITY_DENIED")) denial = refusal;
                reply = refusal.envelope;
            } catch (IOException cause) {
                throw new UncheckedIOException(cause);
            }
            byte[] text = reply.toString().getBytes(UTF_8);
            checkRoom(text.length);
            return env.memory().writeBytes(text);
        }

        /** Checks the request against the ABI and the grant, before any file is touched. */
        JsonObject answer(String name, byte[] text) throws IOException {
            var capability = CAPABILITIES.get(name);
            String subject = "Cannot call " + name + ": ";
            if (++requests > REQUESTS_MAX)
                throw denied(subject + "this call has made " + REQUESTS_MAX + " requests, the maximum");
            if (!tool.rights.contains(capability.right))
                throw denied(subject + "this call is not granted \"" + capability.right + '"');
            JsonElement json = decoded(text);
            if (json == null) throw denied(subject + "the request is not JSON");
            if (!(json instanceof JsonObject request)
                    || !capability.keys.containsAll(request.keySet())
                    || !capability.keys.stream()
                            .allMatch(key -> request.has(key) ? isString(request.get(key)) : key.equals("prefix")))
                throw denied(subject + "the request does not have the form of ABI version 1");
            if (name.equals("clock_now")) return object("ok", true, "epochMs", epochMs);
            String scope = request.get("scope").getAsString();
            if (!tool.scopes.contains(scope)) {
                var granted = tool.scopes.stream().map(Host::quoted).toList();
                String message = "Cannot use scope " + quoted(scope) + ": this call is granted ";
                throw denied(message + String.join(", ", granted));
            }
            if (name.equals("store_list"))
                return list(scope, request.has("prefix") ? request.get("prefix").getAsString() : "");
            String path = request.get("path").getAsString();
            checkPath(path);
            if (!name.equals("store_read") && isTrash(path))
                throw denied("Cannot change " + quoted(path) + ": tools cannot change files in trash/");
            byte[] content = content(scope + '/' + path); // refuses a file that must not be replaced
            if (name.equals("store_read")) {
                String found = content == null ? null : text(content);
                if (content == null || found != null) return object("ok", true, "content", found);
                var refusal = new Refusal("ENTRY_UNREADABLE", "Cannot read " + quoted(path) + ": it is not UTF-8 text");
                refusal.envelope.addProperty("readable", readable(content));
                throw refusal;
            }
            if (name.equals("store_trash")) return trash(scope, path, content);
            byte[] written = request.get("content").getAsString().getBytes(UTF_8);
            if (written.length > FILE_BYTES_MAX) {
                String found = ": it is " + written.length + " bytes, at most " + FILE_BYTES_MAX + " allowed";
                throw new Refusal("QUOTA_EXCEEDED", "Cannot write " + quoted(path) + found);
            }
            stage(scope + '/' + path, written);
            return object("ok", true);
        }

        JsonObject list(String scope, String prefix) throws IOException {
            if (!prefix.isEmpty() && !isPath(prefix.replaceFirst("/\\z", "")))
                throw denied("Cannot list " + quoted(prefix) + ": it is not the beginning of a path");
            var found = new TreeMap<String, Listed>();
            files.walk(files.user, scope, "", found);
            staged.forEach((place, content) -> {
                String path = place.substring(place.indexOf('/') + 1);
                if (place.startsWith(scope + '/')) found.put(path, content == null ? null : new Listed(content.length, 0));
            });
            var entries = new ArrayList<JsonObject>();
            found.forEach((path, file) -> {
                if (file != null && path.startsWith(prefix) && (isTrash(prefix) || !isTrash(path)))
                    entries.add(object("path", path, "bytes", file.bytes, "changedUs", file.changedUs));
            });
            return object("ok", true, "entries", entries);
        }

        JsonObject trash(String scope, String path, byte[] content) throws IOException {
            if (content == null) throw denied("Cannot trash " + quoted(path) + ": no such file");
            int dot = path.lastIndexOf('.');
            int end = dot > path.lastIndexOf('/') + 1 ? dot : path.length();
            var moment = Instant.ofEpochMilli(epochMs).atOffset(ZoneOffset.UTC);
            String stamp = String.format(Locale.ROOT, "%1$tY%1$tm%1$tdT%1$tH%1$tM%1$tS%1$tLZ", moment);
            String base = "trash/" + path.substring(0, end) + '.' + stamp;
            String trashed = base + path.substring(end);
            for (int number = 2; isPath(trashed) && content(scope + '/' + trashed) != null; number++)
                trashed = base + '-' + number + path.substring(end);
            checkPath(trashed);
            stage(scope + '/' + trashed, content);
            stage(scope + '/' + path, null);
            return object("ok", true, "trashed", trashed);
        }

        void stage(String place, byte[] content) {
            staged.remove(place); // so that the map's order puts it last
            staged.put(place, content);
        }

        /** Returns a file as this call sees it. */
        byte[] content(String place) throws IOException {
            return staged.containsKey(place) ? staged.get(place) : files.read(Path.of(place));
        }
    }

    /** A listed file. {@code changedUs} is 0 if this call has staged it. */
    private record Listed(long bytes, long changedUs) {}

    private record Folder(SecureDirectoryStream<Path> handle, Path path) implements Closeable {
        @Override
        public void close() throws IOException {
            handle.close();
        }
    }

    /**
     * One user's files during one call. They are reached only through open folders, and no link is followed. Three limits
     * of Java remain. It creates a folder by its path: someone who swaps the folder around it gets an empty folder
     * elsewhere, which is not used. It counts a file's hard links by the path: the count is used if it is of the same
     * file. It checks a file before opening it, not after: someone who can write there and puts a hard link or a pipe in
     * its place meanwhile has the link read, or makes the call wait.
     */
    private static final class UserFiles implements Closeable {
        static final FileAttribute<?> FOLDER_MODE = asFileAttribute(fromString("rwx------"));
        static final FileAttribute<?> FILE_MODE = asFileAttribute(fromString("rw-------"));
        Folder user, own;
        FileChannel lock;
        int written;

        void open(Path dataDir, String folderName, boolean make) throws IOException {
            if (make && !Files.exists(dataDir)) Files.createDirectories(dataDir, FOLDER_MODE);
            if (!Files.exists(dataDir)) return;
            var handle =
                    (SecureDirectoryStream<Path>) Files.newDirectoryStream(dataDir); // the operator chooses it, so it may be a link
            try (var data = new Folder(handle, dataDir);
                    var users = enter(data, "users", make)) {
                user = enter(users, folderName, make);
            }
        }

        /** The caller closes the folder at once, because descriptors are few. */
        static Folder enter(Folder parent, String name, boolean make) throws IOException {
            if (parent == null) return null;
            Path path = parent.path.resolve(name);
            BasicFileAttributes status = look(parent, Path.of(name));
            if (status == null && !make) return null;
            if (status == null) Files.createDirectory(path, FOLDER_MODE);
            else if (!status.isDirectory()) throw new Refusal("STORAGE_UNSAFE", FOLDER_TAKEN);
            return new Folder(parent.handle.newDirectoryStream(Path.of(name), NOFOLLOW_LINKS), path);
        }

        /** Locks the user's folder until the call ends. It is BUSY if another host holds the lock; the caller can retry. */
        void lock() throws IOException {
            own = enter(user, ".memcell", true);
            BasicFileAttributes status = look(own, Path.of("lock"));
            if (status != null && !status.isRegularFile()) throw new IOException("The lock is no file");
            lock = file(own, "lock", WRITE, CREATE, NOFOLLOW_LINKS);
            if (lock.tryLock() == null) throw new FileAlreadyExistsException("lock");
        }

        Folder folder(Path path, boolean make) throws IOException {
            if (path.getParent() == null) return enter(user, path.toString(), make);
            try (var parent = folder(path.getParent(), make)) {
                return enter(parent, path.getFileName().toString(), make);
            }
        }

        byte[] read(Path place) throws IOException {
            try (var folder = folder(place.getParent(), false)) {
                var status = folder == null ? null : look(folder, place.getFileName());
                if (status == null) return null;
                String path = place.subpath(1, place.getNameCount()).toString();
                String reason = unfit(folder, place.getFileName(), status);
                if (reason != null) throw new Refusal("STORAGE_UNSAFE", "Cannot use " + quoted(path) + ": " + reason);
                try (var file = file(folder, place.getFileName().toString(), READ, NOFOLLOW_LINKS)) {
                    return Channels.newInputStream(file).readNBytes(FILE_BYTES_MAX);
                }
            }
        }

        /** Finds every file. Leaves out files that could not be read. */
        void walk(Folder parent, String of, String prefix, Map<String, Listed> found) throws IOException {
            try (var folder = enter(parent, of, false)) {
                if (folder == null) return;
                for (Path each : folder.handle) {
                    Path name = each.getFileName();
                    try {
                        var status = look(folder, name);
                        if (status == null || !isPath(prefix + name)) continue;
                        if (status.isDirectory()) walk(folder, name.toString(), prefix + name + '/', found);
                        else if (unfit(folder, name, status) == null)
                            found.put(prefix + name, new Listed(status.size(), changedUs(folder, name)));
                    } catch (NoSuchFileException cause) {
                        // vanished meanwhile
                    }
                }
            }
        }

        /** Applies changes in the order of staging, so that a file is in the trash before it is removed. */
        void apply(Map<String, byte[]> staged, Path dataDir, String folderName) throws IOException {
            for (var change : staged.entrySet())
                for (Path above = Path.of(change.getKey()).getParent(); above != null; above = above.getParent())
                    if (change.getValue() != null && staged.get(above.toString()) != null)
                        throw new Refusal("STORAGE_UNSAFE", FOLDER_TAKEN);
            if (!staged.isEmpty() && own == null) { // the user had no folder when this call began
                open(dataDir, folderName, true);
                lock();
                for (Path each : user.handle) if (!each.endsWith(".memcell")) throw new FileAlreadyExistsException("");
            }
            // Write all contents first: a full disk fails here, before anything has changed.
            for (byte[] content : staged.values()) {
                if (content == null) continue;
                String name = "new" + written++;
                delete(own, Path.of(name));
                try (var file = file(own, name, WRITE, CREATE_NEW)) {
                    Channels.newOutputStream(file).write(content);
                    file.force(true);
                }
            }
            int number = 0;
            for (var change : staged.entrySet()) {
                Path place = Path.of(change.getKey());
                try (var folder = folder(place.getParent(), change.getValue() != null)) {
                    if (change.getValue() == null) {
                        delete(folder, place.getFileName());
                        continue;
                    }
                    // The move is atomic: a crash leaves the old file or the new one.
                    own.handle.move(Path.of("new" + number++), folder.handle, place.getFileName());
                    try (var entries = file(folder, ".", READ, NOFOLLOW_LINKS)) {
                        entries.force(true);
                    }
                }
            }
        }

        static void delete(Folder folder, Path name) throws IOException {
            if (folder != null && look(folder, name) != null) folder.handle.deleteFile(name);
        }

        /** The attributes of a name, without following a link; null if nothing has this name. */
        static BasicFileAttributes look(Folder folder, Path name) throws IOException {
            var view = folder.handle.getFileAttributeView(name, BasicFileAttributeView.class, NOFOLLOW_LINKS);
            try {
                return view.readAttributes();
            } catch (NoSuchFileException cause) {
                return null;
            }
        }

        /** Returns why a file is not used: another hard link can be another user's, and a sparse file can claim any size. */
        static String unfit(Folder folder, Path name, BasicFileAttributes status) throws IOException {
            if (status.isSymbolicLink()) return "a link is in its place";
            if (!status.isRegularFile()) return "it is not a regular file";
            var told = Files.readAttributes(folder.path.resolve(name), "unix:nlink,fileKey", NOFOLLOW_LINKS);
            if (!status.fileKey().equals(told.get("fileKey"))) throw new IOException("The folder has been moved");
            int names = (int) told.get("nlink");
            if (names != 1) return "it has " + names + " names on the disk, only 1 is allowed";
            if (status.size() <= FILE_BYTES_MAX) return null;
            return "it is " + status.size() + " bytes, at most " + FILE_BYTES_MAX + " allowed";
        }

        /** Not the time of the last write, which programs can set. */
        static long changedUs(Folder folder, Path name) throws IOException {
            var changed = (FileTime) Files.getAttribute(folder.path.resolve(name), "unix:ctime", NOFOLLOW_LINKS);
            return changed.to(TimeUnit.MICROSECONDS);
        }

        static FileChannel file(Folder folder, String name, OpenOption... how) throws IOException {
            return (FileChannel) folder.handle.newByteChannel(Path.of(name), Set.of(how), FILE_MODE);
        }

        @Override
        public void close() throws IOException {
            try {
                while (written > 0) delete(own, Path.of("new" + --written)); // left by a failed call
            } finally {
                for (var each : new Closeable[] {user, own, lock}) if (each != null) each.close();
            }
        }
    }

    /** Unique for each user id, on every kind of disk, and never a path. */
    private static String folderName(String userId) throws GeneralSecurityException {
        boolean isDevice = userId.matches("(?is)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\\..*)?");
        var odd = Pattern.compile("[^A-Za-z0-9._@-]|^\\.|\\.\\z" + (isDevice ? "|^." : ""));
        var hex = HexFormat.of().withUpperCase().withPrefix("%");
        String name = odd.matcher(userId)
                .replaceAll(found -> hex.formatHex(found.group().getBytes(UTF_8)));
        String mark = "%~" + sha256(userId.getBytes(UTF_8));
        return name.length() <= 191 ? name : name.substring(0, 191 - mark.length()) + mark;
    }

    private static boolean isPath(String path) {
        return path.length() <= 255 && PATH.matcher(path).matches();
    }

    private static void checkPath(String path) {
        String allowed = ": allowed are relative paths inside the scope, without \".\" and \"..\"";
        if (!isPath(path)) throw denied("Cannot use path " + quoted(path) + allowed);
    }

    /** Ignores case, because some disks do not distinguish TRASH from trash. */
    private static boolean isTrash(String path) {
        return (path + '/').toLowerCase(Locale.ROOT).startsWith("trash/");
    }

    /** Escapes an untrusted text, so that it cannot end the quotation or hide or reorder the text around it. */
    private static String quoted(String text) {
        var shown = new StringBuilder("\"");
        for (int each : text.codePoints().limit(60).toArray()) {
            boolean isHidden = HIDDEN.contains((byte) Character.getType(each));
            if (each == '"' || each == '\\') shown.append('\\');
            if (!isHidden) shown.appendCodePoint(each);
            else shown.append(each == '\n' ? "\\n" : (each > 0xffff ? "\\u{%x}" : "\\u%04x").formatted(each));
        }
        return shown + (text.codePoints().count() > 60 ? "…\"" : "\"");
    }

    private static Refusal denied(String message) {
        return new Refusal("CAPABILITY_DENIED", message);
    }

    private static boolean isString(JsonElement value) {
        return value instanceof JsonPrimitive primitive && primitive.isString();
    }

    private static JsonObject object(Object... members) {
        var object = new JsonObject();
        for (int at = 0; at < members.length; at += 2)
            object.add((String) members[at], GSON.toJsonTree(members[at + 1]));
        return object;
    }

    /** Null for text that is not JSON, such as half of a surrogate pair. Gson alone would skip a byte order mark. */
    private static JsonElement decoded(byte[] utf8) {
        String text = text(utf8);
        try {
            if (text == null || text.startsWith("\ufeff")) return null;
            JsonElement json = GSON.fromJson(text, JsonElement.class);
            return json == null || !UTF_8.newEncoder().canEncode(json.toString()) ? null : json;
        } catch (JsonParseException cause) {
            return null;
        }
    }

    /** Null for bytes that are not UTF-8; Java alone would replace them. */
    private static String text(byte[] utf8) {
        String text = new String(utf8, UTF_8);
        return Arrays.equals(text.getBytes(UTF_8), utf8) ? text : null;
    }

    /** What can be read of bytes that are not UTF-8. UTF-16 that begins with a byte order mark is decoded. */
    private static String readable(byte[] content) {
        boolean isUtf16 = content.length > 1 && (content[0] & content[1]) == (byte) 0xfe && content[0] != content[1];
        return new String(content, isUtf16 ? UTF_16 : UTF_8).replaceAll("\ufffd+", "\ufffd");
    }

    private static String sha256(byte[] bytes) throws GeneralSecurityException {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    }
}
