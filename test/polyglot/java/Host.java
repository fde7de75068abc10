import static java.nio.charset.StandardCharsets.UTF_8;

import com.dylibso.chicory.compiler.InterpreterFallback;
import com.dylibso.chicory.compiler.MachineFactoryCompiler;
import com.dylibso.chicory.log.SystemLogger;
import com.dylibso.chicory.runtime.ByteArrayMemory;
import com.dylibso.chicory.runtime.HostFunction;
import com.dylibso.chicory.runtime.ImportValues;
import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.runtime.Machine;
import com.dylibso.chicory.runtime.Memory;
import com.dylibso.chicory.runtime.WasmRuntimeException;
import com.dylibso.chicory.wasm.Parser;
import com.dylibso.chicory.wasm.WasmModule;
import com.dylibso.chicory.wasm.types.FunctionType;
import com.dylibso.chicory.wasm.types.SectionId;
import com.dylibso.chicory.wasm.types.UnknownCustomSection;
import com.dylibso.chicory.wasm.types.ValType;
import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonPrimitive;
import com.google.gson.Strictness;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.extism.sdk.chicory.ConfigProvider;
import org.extism.sdk.chicory.HostEnv;
import org.extism.sdk.chicory.Kernel;

/**
 * Hosts a memcell plugin under the Extism Chicory SDK: the capability ABI, version 1, over a folder for each user.
 *
 * <p>A template to copy. A plugin has no network, no WASI, no environment, and no file but those of the scopes that its manifest
 * names for the tool, in the folder of the user on whose behalf the tool is called.
 *
 * <p>What it leaves to you: quotas of a user's folder and of a call, an audit log, a queue, and a journal: a power cut between two
 * files of one call leaves the first. It runs a file that was judged before ({@code memcell audit}): pin it by its SHA-256.
 */
public final class Host {
    static final int FILE_BYTES_MAX = 2 * 1024 * 1024;
    private static final int INPUT_BYTES_MAX = 512 * 1024;
    private static final int OUTPUT_BYTES_MAX = 512 * 1024;
    private static final int REQUESTS_MAX = 10_000;
    /** Requests, replies and answers lie in the kernel's memory, which has no maximum of its own. */
    private static final long KERNEL_BYTES_MAX = 64 * 1024 * 1024;
    /** A plugin's recursion is the thread's: less would end calls that other hosts serve. */
    private static final int STACK_BYTES = 16 * 1024 * 1024;

    /** The right that a capability needs, and the keys of its request. */
    private record Capability(String right, Set<String> keys) {}

    private static final Map<String, Capability> CAPABILITIES = Map.of(
            "store_read", new Capability("read", Set.of("scope", "path")),
            "store_list", new Capability("list", Set.of("scope", "prefix")),
            "store_write", new Capability("write", Set.of("scope", "path", "content")),
            "store_trash", new Capability("trash", Set.of("scope", "path")),
            "clock_now", new Capability("clock", Set.of()));
    private static final FunctionType CAPABILITY = FunctionType.of(List.of(ValType.I64), List.of(ValType.I64));
    /** What of Extism's kernel a plugin may import: no variables, no HTTP. */
    private static final Set<String> KERNEL_FUNCTIONS = Set.of(
            "input_length",
            "input_load_u8",
            "input_load_u64",
            "alloc",
            "length",
            "load_u8",
            "load_u64",
            "store_u8",
            "store_u64",
            "free",
            "output_set",
            "error_set",
            "config_get",
            "log_debug",
            "log_info",
            "log_warn",
            "log_error");
    /** What a guest may report without having been told it. */
    private static final Set<String> GUEST_CODES = Set.of(
            "INPUT_INVALID",
            "ENTRY_NOT_FOUND",
            "ENTRY_UNREADABLE",
            "NAME_RESERVED",
            "NAME_CONFLICT",
            "QUOTA_EXCEEDED",
            "CAPABILITY_DENIED",
            "GUEST_TRAPPED",
            "FUEL_EXHAUSTED",
            "MEMORY_EXCEEDED");

    private static final Pattern PATH = Pattern.compile("[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*");
    private static final String SPACE = "[\\p{Zs}\\p{Zl}\\p{Zp}\\x{feff}]";
    private static final Pattern UNFIT_USER_ID =
            Pattern.compile("[\\p{Cc}\\p{Cs}/\\\\]|^" + SPACE + "|" + SPACE + "\\z|^\\.{0,2}\\z");
    private static final DateTimeFormatter STAMP =
            DateTimeFormatter.ofPattern("uuuuMMdd'T'HHmmssSSS'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);
    private static final Gson GSON =
            new GsonBuilder().setStrictness(Strictness.STRICT).create();

    /** An error of the contract: a code, and words for a model that tell nothing of the machine. */
    public static final class Refusal extends RuntimeException {
        private static final long serialVersionUID = 1;
        final transient JsonObject error;

        Refusal(String code, String message) {
            super(message, null, false, false);
            error = object("code", code, "message", message);
        }

        public JsonObject envelope() {
            return object("ok", false, "error", error);
        }
    }

    private record Tool(String name, String export, String audience, Set<String> scopes, Set<String> rights) {}

    private record Manifest(int abi, List<Tool> tools, int deadlineMs) {}

    private final Manifest manifest;
    private final WasmModule module;
    private final Function<Instance, Machine> machine;
    private final Path dataDir;
    private final Map<String, String> config;
    private final int deadlineMs;

    /**
     * A plugin, compiled once, and the folder of its users' data. Throws a {@code Refusal} when the file is not the pinned one, or
     * no plugin. What is null is not pinned or not limited; the limits can only be lowered.
     */
    public Host(Path plugin, Path dataDir, String sha256, Integer fuelPolls, Integer deadlineMs) throws IOException {
        byte[] wasm = Files.readAllBytes(plugin);
        if (sha256 != null && !sha256.equals(sha256(wasm)))
            throw new Refusal("PLUGIN_REFUSED", "Cannot load the plugin: it is another file than the pinned one");
        this.dataDir = dataDir;
        this.config = fuelPolls == null ? Map.of() : Map.of("memcell.fuelPolls", fuelPolls.toString());
        try {
            manifest = manifest(wasm);
            module = Parser.parse(wasm);
            // Not the SDK's own Plugin: it would parse and compile the file anew for each instance.
            machine = MachineFactoryCompiler.builder(module)
                    .withInterpreterFallback(InterpreterFallback.FAIL)
                    .compile();
            new Guest(null); // linked once, so that a file that wants more is refused now
        } catch (RuntimeException | StackOverflowError cause) {
            throw new Refusal("PLUGIN_REFUSED", "Cannot load the plugin: it is no plugin of ABI version 1");
        }
        this.deadlineMs = deadlineMs == null ? manifest.deadlineMs : Math.min(manifest.deadlineMs, deadlineMs);
    }

    /** Calls a tool for a model, now. */
    public JsonObject call(String tool, JsonElement input, String userId) throws InterruptedException {
        return call(tool, input, userId, "model", System.currentTimeMillis());
    }

    /** The call's envelope: {"ok": true, "message", "data"} or {"ok": false, "error": {"code", "message"}}. */
    public JsonObject call(String toolName, JsonElement input, String userId, String audience, long epochMs)
            throws InterruptedException {
        try {
            var tools = new LinkedHashMap<String, Tool>();
            for (Tool each : manifest.tools) if (each.audience.equals(audience)) tools.put(each.name, each);
            Tool tool = tools.get(toolName);
            if (tool == null) {
                String allowed = String.join(", ", tools.keySet());
                throw new Refusal(
                        "TOOL_UNKNOWN", "Cannot call " + quoted(toolName) + ": no such tool, allowed: " + allowed);
            }
            checkUserId(userId);
            byte[] text = Pattern.compile("\\p{Cs}")
                    .matcher(input.toString())
                    .replaceAll(half -> "\\\\u%04x".formatted((int) half.group().charAt(0)))
                    .getBytes(UTF_8);
            if (text.length > INPUT_BYTES_MAX) {
                String found = text.length + " bytes of JSON", most = "at most " + INPUT_BYTES_MAX + " bytes";
                var refusal = new Refusal(
                        "INPUT_INVALID", "Cannot call " + toolName + ": input is " + found + ", allowed: " + most);
                refusal.error.add(
                        "issues", GSON.toJsonTree(List.of(object("field", "input", "value", found, "allowed", most))));
                throw refusal;
            }
            // One call at a time, whatever the host: the file locks of Java exclude other processes, not other threads.
            synchronized (Host.class) {
                boolean mayChange = tool.rights.contains("write") || tool.rights.contains("trash");
                try (var files = new Store(dataDir, folderName(userId))) {
                    files.open(mayChange);
                    var call = new Call(tool, files, epochMs);
                    JsonObject envelope = run(call, text);
                    if (envelope.get("ok").getAsBoolean()) files.apply(call.staged);
                    return envelope;
                }
            }
        } catch (Refusal refusal) {
            return refusal.envelope();
        } catch (IOException cause) {
            return new Refusal("STORAGE_FAILED", "Cannot use the user's folder: the disk refused").envelope();
        }
    }

    /** Runs the tool on an instance of its own, on a thread of its own, which is never left running. */
    private JsonObject run(Call call, byte[] input) throws IOException, InterruptedException {
        var outcome = new FutureTask<>(() -> new Guest(call).run(input));
        var thread = new Thread(null, outcome, "plugin", STACK_BYTES);
        thread.start();
        try {
            JsonObject envelope = outcome.get(deadlineMs, TimeUnit.MILLISECONDS);
            if (call.denial != null) throw call.denial;
            return envelope;
        } catch (TimeoutException cause) {
            throw new Refusal(
                    "DEADLINE_EXCEEDED", "Cannot finish " + call.tool.name + ": it ran for over " + deadlineMs + " ms");
        } catch (ExecutionException failure) {
            if (failure.getCause() instanceof UncheckedIOException cause) throw cause.getCause();
            if (call.denial != null) throw call.denial; // decides the call, whatever the guest did afterwards
            if (failure.getCause() instanceof Refusal refusal) throw refusal;
            throw new Refusal("GUEST_TRAPPED", "Cannot finish " + call.tool.name + ": the plugin's code crashed");
        } finally {
            while (thread.isAlive()) { // the engine looks at every turn of a loop and at every call
                thread.interrupt();
                thread.join(10);
            }
        }
    }

    /** One instance and a kernel of its own: nothing that a former call has left in memory is there. */
    private final class Guest {
        private final Call call;
        private final Map<String, HostFunction> kernel = new HashMap<>();
        private final HostEnv env =
                new HostEnv(new Kernel(), ConfigProvider.ofMap(config), null, false, null, new SystemLogger());
        private final Instance instance;

        Guest(Call call) {
            this.call = call;
            var imports = ImportValues.builder();
            for (HostFunction each : env.toHostFunctions()) {
                kernel.put(each.name(), each);
                if (KERNEL_FUNCTIONS.contains(each.name())) imports.addFunction(bounded(each));
            }
            for (String name : CAPABILITIES.keySet())
                imports.addFunction(new HostFunction(
                        "extism:host/user", name, CAPABILITY, (caller, handle) -> new long[] {ask(name, handle[0])}));
            instance = Instance.builder(module)
                    .withImportValues(imports.build())
                    .withStart(false)
                    .withMemoryFactory(ByteArrayMemory::new)
                    .withMachineFactory(machine)
                    .build();
        }

        JsonObject run(byte[] input) {
            env.setInput(input);
            long code = instance.export(call.tool.export).apply()[0];
            long error = kernel("error_get");
            if (error != 0) return judgedError(call.tool.name, block(error), call.told);
            if (code != 0) throw new IllegalStateException("The guest has failed without an error");
            long length = kernel("output_length");
            if (length > OUTPUT_BYTES_MAX) {
                String found = "its answer is " + length + " bytes, at most " + OUTPUT_BYTES_MAX + " allowed";
                throw new Refusal("OUTPUT_TOO_LARGE", "Cannot finish " + call.tool.name + ": " + found);
            }
            byte[] output = env.memory().memory().readBytes((int) kernel("output_offset"), (int) length);
            return judgedOutput(call.tool.name, output);
        }

        /** A function that takes no more memory than a call may have, and tells nobody what a plugin logs. */
        private HostFunction bounded(HostFunction function) {
            String name = function.name();
            return new HostFunction(function.module(), name, function.functionType(), (caller, arguments) -> {
                if (name.startsWith("log_")) return new long[0];
                checkRoom(name.equals("alloc") ? arguments[0] : 0);
                return function.handle().apply(caller, arguments);
            });
        }

        private void checkRoom(long bytes) {
            long room = KERNEL_BYTES_MAX - (long) env.memory().memory().pages() * Memory.PAGE_SIZE;
            if (bytes < 0 || bytes > room)
                throw new Refusal("MEMORY_EXCEEDED", "Cannot finish the call: no block is left for what it holds");
        }

        private long ask(String name, long handle) {
            try {
                byte[] reply = call.answer(name, block(handle)).toString().getBytes(UTF_8);
                checkRoom(reply.length);
                return env.memory().writeBytes(reply);
            } catch (IOException cause) {
                throw new UncheckedIOException(cause);
            }
        }

        /** The bytes of a block; none of a handle that is no block, for some of which the kernel looks beyond its memory. */
        private byte[] block(long handle) {
            try {
                return env.memory().memory().readBytes((int) handle, (int)
                        env.memory().length(handle));
            } catch (WasmRuntimeException cause) {
                return new byte[0];
            }
        }

        private long kernel(String name) {
            return kernel.get(name).handle().apply(instance)[0];
        }
    }

    /** What the capabilities work on during one call. Changes are staged, so that a failed call leaves no trace. */
    private static final class Call {
        final Tool tool;
        final Map<Store.Place, byte[]> staged = new LinkedHashMap<>(); // null for no file
        final Set<String> told = new HashSet<>();
        Refusal denial;
        private final Store files;
        private final long epochMs;
        private int requests;

        Call(Tool tool, Store files, long epochMs) {
            this.tool = tool;
            this.files = files;
            this.epochMs = epochMs;
        }

        JsonObject answer(String name, byte[] text) throws IOException {
            try {
                JsonObject request = checked(name, text);
                if (name.equals("clock_now")) return object("ok", true, "epochMs", epochMs);
                String scope = request.get("scope").getAsString();
                if (name.equals("store_list"))
                    return list(
                            scope, request.has("prefix") ? request.get("prefix").getAsString() : "");
                var place = new Store.Place(scope, request.get("path").getAsString());
                byte[] content = content(place); // refuses what must not be replaced
                return switch (name) {
                    case "store_read" -> read(place, content);
                    case "store_write" -> write(
                            place, request.get("content").getAsString().getBytes(UTF_8));
                    default -> trash(place, content);
                };
            } catch (Refusal refusal) {
                String code = refusal.error.get("code").getAsString();
                told.add(code);
                if (denial == null && code.equals("CAPABILITY_DENIED")) denial = refusal;
                return refusal.envelope();
            }
        }

        /** The request, held against the ABI and the grant before any file is looked at. */
        private JsonObject checked(String name, byte[] text) {
            String right = CAPABILITIES.get(name).right, subject = "Cannot call " + name + ": ";
            if (++requests > REQUESTS_MAX)
                throw denied(subject + "this call has asked " + REQUESTS_MAX + " times, no more is allowed");
            if (!tool.rights.contains(right)) throw denied(subject + "this call is not granted \"" + right + '"');
            JsonElement json = decoded(text);
            if (json == null || !UTF_8.newEncoder().canEncode(json.toString())) // which it cannot: half a pair
            throw denied(subject + "the request is not JSON");
            Set<String> keys = CAPABILITIES.get(name).keys;
            if (!(json instanceof JsonObject request)
                    || !keys.containsAll(request.keySet())
                    || !keys.stream()
                            .allMatch(key -> isString(request.get(key)) || key.equals("prefix") && !request.has(key)))
                throw denied(subject + "the request has not the form that ABI version 1 gives it");
            if (request.has("scope")
                    && !tool.scopes.contains(request.get("scope").getAsString())) {
                String granted = tool.scopes.stream().map(Host::quoted).collect(Collectors.joining(", "));
                String scope = quoted(request.get("scope").getAsString());
                throw denied("Cannot use scope " + scope + ": this call is granted " + granted);
            }
            if (request.has("path")) {
                String path = request.get("path").getAsString();
                checkPath(path);
                if (!right.equals("read") && isTrash(path))
                    throw denied("Cannot change " + quoted(path) + ": what lies in trash/ is not a tool's to change");
            }
            return request;
        }

        private static JsonObject read(Store.Place place, byte[] content) {
            try {
                return object("ok", true, "content", content == null ? null : strictly(content));
            } catch (CharacterCodingException cause) {
                throw new Refusal("ENTRY_UNREADABLE", "Cannot read " + quoted(place.path()) + ": it is not UTF-8 text");
            }
        }

        private JsonObject list(String scope, String prefix) throws IOException {
            if (!prefix.isEmpty() && !isPath(prefix.replaceFirst("/\\z", "")))
                throw denied("Cannot list " + quoted(prefix) + ": it is not the beginning of a path");
            Map<String, Long> sizes = files.sizes(scope);
            staged.forEach((place, content) -> {
                if (place.scope().equals(scope))
                    sizes.put(place.path(), content == null ? null : (long) content.length);
            });
            var entries = new ArrayList<JsonObject>();
            sizes.forEach((path, bytes) -> {
                if (bytes != null && path.startsWith(prefix) && (isTrash(prefix) || !isTrash(path)))
                    entries.add(object("path", path, "bytes", bytes));
            });
            return object("ok", true, "entries", entries);
        }

        private JsonObject write(Store.Place place, byte[] content) {
            if (content.length > FILE_BYTES_MAX) {
                String found = content.length + " bytes, at most " + FILE_BYTES_MAX + " allowed";
                throw new Refusal("QUOTA_EXCEEDED", "Cannot write " + quoted(place.path()) + ": it is " + found);
            }
            staged.put(place, content);
            return object("ok", true);
        }

        private JsonObject trash(Store.Place place, byte[] content) throws IOException {
            String path = place.path();
            if (content == null) throw denied("Cannot trash " + quoted(path) + ": no such file");
            int dot = path.lastIndexOf('.');
            int end = dot > path.lastIndexOf('/') + 1 ? dot : path.length();
            String base = "trash/" + path.substring(0, end) + '.' + STAMP.format(Instant.ofEpochMilli(epochMs));
            var trashed = new Store.Place(place.scope(), base + path.substring(end));
            checkPath(trashed.path());
            for (int number = 2; content(trashed) != null; number++)
                trashed = new Store.Place(place.scope(), base + '-' + number + path.substring(end));
            staged.put(trashed, content);
            staged.put(place, null);
            return object("ok", true, "trashed", trashed.path());
        }

        /** A file as this call sees it. */
        private byte[] content(Store.Place place) throws IOException {
            return staged.containsKey(place) ? staged.get(place) : files.read(place);
        }
    }

    /** The one custom section {@code memcell:manifest}. What else is in the file, was judged before. */
    private static Manifest manifest(byte[] wasm) {
        var found = new ArrayList<byte[]>();
        Parser.builder().includeSectionId(SectionId.CUSTOM).build().parse(new ByteArrayInputStream(wasm), section -> {
            if (section instanceof UnknownCustomSection custom && custom.name().equals("memcell:manifest"))
                found.add(custom.bytes());
        });
        var manifest = GSON.fromJson(decoded(found.get(0)), Manifest.class);
        if (found.size() != 1 || manifest.abi != 1) throw new IllegalArgumentException("not one manifest of ABI 1");
        return manifest;
    }

    private static String folderName(String userId) {
        boolean isDevice = userId.matches("(?i:con|prn|aux|nul|com[0-9]|lpt[0-9])(\\.(?s:.*))?");
        String name = Pattern.compile("[^A-Za-z0-9._@-]|^\\.|\\.\\z" + (isDevice ? "|^." : ""))
                .matcher(userId)
                .replaceAll(odd -> HexFormat.of()
                        .withUpperCase()
                        .withPrefix("%")
                        .formatHex(odd.group().getBytes(UTF_8)));
        if (name.length() <= 191) return name;
        String mark = "%~" + sha256(userId.getBytes(UTF_8));
        return name.substring(0, 191 - mark.length()) + mark;
    }

    static boolean isPath(String path) {
        return path.length() <= 255 && PATH.matcher(path).matches();
    }

    private static void checkPath(String path) {
        String allowed = "allowed are relative paths inside the scope, without \".\" and \"..\"";
        if (!isPath(path)) throw denied("Cannot use path " + quoted(path) + ": " + allowed);
    }

    /** In any case: some disks do not tell TRASH from trash. */
    static boolean isTrash(String path) {
        return (path + '/').toLowerCase(Locale.ROOT).startsWith("trash/");
    }

    private static void checkUserId(String userId) {
        if (userId == null)
            throw new Refusal("USER_REQUIRED", "Cannot call a tool: ctx.userId is missing, every call needs a user");
        if (UNFIT_USER_ID.matcher(userId).find() || userId.getBytes(UTF_8).length > 128)
            throw new Refusal(
                    "USER_INVALID",
                    "Cannot call a tool: ctx.userId is " + quoted(userId) + ", allowed: 1 to 128 bytes without control"
                            + " characters, \"/\", \"\\\", leading or trailing space, and other than \".\" and \"..\"");
    }

    /** A text that somebody else has chosen, so that it can neither end the quotation nor hide or turn what is around. */
    static String quoted(String text) {
        var shown = new StringBuilder("\"");
        text.codePoints().limit(60).forEach(character -> {
            switch (Character.getType(character)) {
                case Character.CONTROL,
                        Character.FORMAT,
                        Character.LINE_SEPARATOR,
                        Character.PARAGRAPH_SEPARATOR,
                        Character.SURROGATE -> shown.append(
                        character == '\n' ? "\\n" : (character > 0xffff ? "\\u{%x}" : "\\u%04x").formatted(character));
                default -> shown.append(character == '"' || character == '\\' ? "\\" : "")
                        .appendCodePoint(character);
            }
        });
        return shown.append(text.codePointCount(0, text.length()) > 60 ? "…\"" : "\"")
                .toString();
    }

    private static JsonObject judgedOutput(String name, byte[] output) {
        if (decoded(output) instanceof JsonObject envelope
                && envelope.keySet().equals(Set.of("ok", "message", "data"))
                && envelope.get("ok").equals(new JsonPrimitive(true))
                && isString(envelope.get("message"))) return envelope;
        throw new Refusal(
                "OUTPUT_INVALID", "Cannot use the answer of " + name + ": its output is not a success envelope");
    }

    private static JsonObject judgedError(String name, byte[] text, Set<String> told) {
        JsonElement json = decoded(text);
        if (json == null) throw new IllegalStateException("The guest's error is not JSON");
        String refused = "Cannot use the answer of " + name + ": ";
        if (!(json instanceof JsonObject envelope)
                || !envelope.keySet().equals(Set.of("ok", "error"))
                || !envelope.get("ok").equals(new JsonPrimitive(false))
                || !(envelope.get("error") instanceof JsonObject error)
                || !isString(error.get("code"))
                || !isString(error.get("message"))
                || !Set.of("code", "message", "issues").containsAll(error.keySet())
                || !error.get("code").getAsString().matches("[A-Z_]{1,64}"))
            throw new Refusal("OUTPUT_INVALID", refused + "its error is not a failed envelope");
        String code = error.get("code").getAsString();
        if (!GUEST_CODES.contains(code) && !told.contains(code))
            throw new Refusal("OUTPUT_INVALID", refused + "it reports " + code + ", which nobody told it");
        return envelope;
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

    /** Null for what is no JSON in UTF-8. */
    private static JsonElement decoded(byte[] text) {
        try {
            String json = strictly(text);
            return json.startsWith("\ufeff") ? null : GSON.fromJson(json, JsonElement.class); // Gson would skip it
        } catch (JsonParseException | CharacterCodingException cause) {
            return null;
        }
    }

    /** Where {@code new String} would put in other characters, it throws. */
    private static String strictly(byte[] utf8) throws CharacterCodingException {
        return UTF_8.newDecoder().decode(ByteBuffer.wrap(utf8)).toString();
    }

    private static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException cause) {
            throw new IllegalStateException(cause);
        }
    }
}
