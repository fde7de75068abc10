import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Serves one plugin over standard input and output: the first line of JSON says what to host, and each further line is a call. */
final class Main {
    public static void main(String[] arguments) throws Exception {
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        JsonObject hosted = object(lines.readLine());
        JsonObject limits = hosted.has("limits") ? hosted.getAsJsonObject("limits") : new JsonObject();
        Host host;
        try {
            host = new Host(
                    Path.of(hosted.get("plugin").getAsString()),
                    Path.of(hosted.get("dataDir").getAsString()),
                    hosted.has("sha256") ? hosted.get("sha256").getAsString() : null,
                    limits.has("fuelPolls") ? limits.get("fuelPolls").getAsInt() : null,
                    limits.has("deadlineMs") ? limits.get("deadlineMs").getAsInt() : null);
        } catch (Host.Refusal refusal) {
            answers.println(refusal.envelope);
            System.exit(1);
            return;
        }
        answers.println("{\"ok\":true}");
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            answers.println(answer(host, line));
        }
    }

    private static JsonObject answer(Host host, String line) throws InterruptedException {
        try {
            JsonObject call = object(line);
            JsonObject context = call.has("context") ? call.getAsJsonObject("context") : new JsonObject();
            return host.call(
                    call.get("tool").getAsString(),
                    String.valueOf(call.get("input")),
                    context.has("userId") ? context.get("userId").getAsString() : null,
                    call.has("audience") ? call.get("audience").getAsString() : "model",
                    context.has("epochMs") ? context.get("epochMs").getAsLong() : System.currentTimeMillis());
        } catch (RuntimeException | StackOverflowError cause) { // not a call, or nested too deeply to be read
            return new Host.Refusal("INPUT_INVALID", "Cannot read the call: it is not serialisable").envelope;
        }
    }

    private static JsonObject object(String line) {
        return JsonParser.parseString(line).getAsJsonObject();
    }
}
