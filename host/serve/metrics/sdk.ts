/** The used part of OpenTelemetry's SDK for metrics, which only who wants metrics installs. Only this file imports it. */
import type { PrometheusExporter, PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import type { MeterProvider } from "@opentelemetry/sdk-metrics";

export type { MeterProvider };

interface Sdk {
  readonly MeterProvider: typeof MeterProvider;
  readonly PrometheusExporter: typeof PrometheusExporter;
  readonly PrometheusSerializer: typeof PrometheusSerializer;
}

/** Rejects with a `RangeError` that says what to install. */
export async function loadSdk(): Promise<Sdk> {
  try {
    const packages = [import("@opentelemetry/exporter-prometheus"), import("@opentelemetry/sdk-metrics")] as const;
    const [exporter, metrics] = await Promise.all(packages);
    return { ...exporter, ...metrics };
  } catch (cause) {
    const install = "npm install @opentelemetry/sdk-metrics @opentelemetry/exporter-prometheus";
    throw new RangeError(`metrics need the SDK of OpenTelemetry, which is not installed: ${install}`, { cause });
  }
}
