import type { Logger } from '../../ports/logger.js'
import type { Tracer } from '../../ports/tracer.js'
import { startRecordedRoot } from './recordedSpan.js'
import type { TracingSettings } from './settings.js'
import { createSpanExporter } from './spanExporter.js'
import { readTraceparent } from './traceContext.js'

/** Loaded only where a collector is configured. */
export const createTracer = (
  settings: TracingSettings,
  logger: Logger,
  limits: { readonly closeMs?: number } = {},
): Tracer => {
  const exporter = createSpanExporter(settings, logger, limits)
  const isRecorded = createSampler(settings)
  return {
    startRoot: ({ traceparent, link = null, ...start }) => {
      const parent = readTraceparent(traceparent)
      if (!isRecorded(parent)) return null
      return startRecordedRoot(start, { parent, link, record: exporter.add })
    },
    close: exporter.close,
  }
}

/**
 * Callers are strangers, who choose both the trace id and its sampled flag: with `parentbased_…` they can ask that nothing
 * is recorded, never that something is, and the ratio is drawn by lot instead of from the id.
 */
export const createSampler =
  (
    { sampler, ratio }: Pick<TracingSettings, 'sampler' | 'ratio'>,
    random: () => number = Math.random,
  ): ((parent: { readonly isSampled: boolean } | null) => boolean) =>
  (parent) => {
    if (sampler.startsWith('parentbased_') && parent?.isSampled === false) return false
    switch (sampler) {
      case 'always_on':
      case 'parentbased_always_on':
        return true
      case 'always_off':
      case 'parentbased_always_off':
        return false
      case 'traceidratio':
      case 'parentbased_traceidratio':
        return random() < ratio
    }
  }
