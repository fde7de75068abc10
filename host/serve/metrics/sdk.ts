/** The used part of OpenTelemetry's SDK for metrics. Only this file imports its packages. */
export { PrometheusExporter, PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
export { MeterProvider } from "@opentelemetry/sdk-metrics";
