import { z } from 'zod'
import { Secret } from '../secret.js'
import { version } from '../version.js'

export const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

export interface TracingSettings {
  /** Where spans are posted: it may hold credentials. */
  readonly url: Secret
  readonly headers: Readonly<Record<string, Secret>>
  readonly resource: Readonly<Record<string, string>>
  readonly sampler: (typeof samplers)[number]
  /** 0 to 1. */
  readonly ratio: number
}

const maxPairs = 64
const maxLength = 1_024

/** `key=value`, comma separated, with values in percent-encoding; null if it is not of this form. */
const readPairs = (text: string): Readonly<Record<string, string>> | null => {
  const pairs = text.split(',').flatMap((part) => (part.trim() === '' ? [] : [readPair(part.trim())]))
  const valid = pairs.filter((pair) => pair !== null)
  if (valid.length < pairs.length || valid.length > maxPairs) return null
  return Object.fromEntries(valid)
}

const readPair = (text: string): readonly [string, string] | null => {
  const [, key = '', value = ''] = /^([^\s=]+)\s*=\s*(.*)$/s.exec(text) ?? []
  if (key === '' || text.length > maxLength) return null
  try {
    return [decodeURIComponent(key), decodeURIComponent(value)]
  } catch {
    return null
  }
}

const headerName = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/
const headerValue = /^[\x20-\x7e]*$/
// The exporter sets these itself.
const ownHeaders = ['content-type', 'content-length', 'host', 'connection', 'transfer-encoding']

const isHeader = ([name, value]: readonly [string, string]): boolean =>
  headerName.test(name) && headerValue.test(value) && !ownHeaders.includes(name.toLowerCase())

export const headerPairs = z
  .string()
  .refine(
    (text) => Object.entries(readPairs(text) ?? { '': '' }).every(isHeader),
    'must list headers such as authorization=Bearer%20token, comma separated',
  )
  .transform((text) => new Secret(text))

export const resourcePairs = z
  .string()
  .refine(
    (text) => readPairs(text) !== null,
    'must list attributes such as deployment.environment.name=production, comma separated',
  )

interface TracingVariables {
  readonly OTEL_SDK_DISABLED: 'true' | 'false'
  readonly OTEL_SERVICE_NAME?: string | undefined
  readonly OTEL_RESOURCE_ATTRIBUTES?: string | undefined
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: Secret | undefined
  readonly OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: Secret | undefined
  readonly OTEL_EXPORTER_OTLP_HEADERS?: Secret | undefined
  readonly OTEL_TRACES_SAMPLER: TracingSettings['sampler']
  readonly OTEL_TRACES_SAMPLER_ARG: number
}

/** Null: no collector is configured, or tracing is turned off. */
export const readTracing = (variables: TracingVariables): TracingSettings | null => {
  const url =
    variables.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? pathOfTraces(variables.OTEL_EXPORTER_OTLP_ENDPOINT)
  if (url === null || variables.OTEL_SDK_DISABLED === 'true') return null
  const headers = readPairs(variables.OTEL_EXPORTER_OTLP_HEADERS?.reveal() ?? '') ?? {}
  const attributes = readPairs(variables.OTEL_RESOURCE_ATTRIBUTES ?? '') ?? {}
  const name = variables.OTEL_SERVICE_NAME
  return {
    url,
    headers: Object.fromEntries(
      Object.entries(headers).map(([header, value]) => [header.toLowerCase(), new Secret(value)]),
    ),
    resource: {
      'service.name': 'quittance',
      'service.version': version,
      ...attributes,
      ...(name === undefined ? {} : { 'service.name': name }),
    },
    sampler: variables.OTEL_TRACES_SAMPLER,
    ratio: variables.OTEL_TRACES_SAMPLER_ARG,
  }
}

/** The endpoint of all signals is a base; that of traces is complete. */
const pathOfTraces = (endpoint: Secret | undefined): Secret | null => {
  if (endpoint === undefined) return null
  const url = new URL(endpoint.reveal())
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`
  return new Secret(url.href)
}
