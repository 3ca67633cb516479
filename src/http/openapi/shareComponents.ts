import { STATUS_CODES } from 'node:http'
import { type ErrorCode, errorStatus } from '../../errors.js'

interface Body {
  readonly description?: unknown
  readonly content?: Readonly<Record<string, { readonly schema?: unknown; readonly examples?: unknown }>>
}

interface Operation {
  readonly tags: readonly string[]
  readonly parameters?: readonly { readonly name: string }[]
  readonly requestBody?: Body
  readonly responses: Readonly<Record<string, Body>>
}

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>

interface Part {
  readonly section: 'parameters' | 'requestBodies' | 'responses'
  readonly name: string
  readonly tag: string
  readonly value: unknown
}

/**
 * Makes components of the parameters, request bodies and responses that several operations have. Of different ones with
 * the same name the most frequent has it, as `Cursor`; the next has the tag of its first operation before it, as
 * `DiscoveryCursor`; others stay in their operations.
 */
export const shareComponents = (document: Readonly<Record<'paths' | 'webhooks', Paths>>) => {
  const operations = Object.values({ ...document.paths, ...document.webhooks }).flatMap(
    Object.values<Operation>,
  )
  const components: Record<Part['section'], Record<string, unknown>> = {
    parameters: {},
    requestBodies: {},
    responses: {},
  }
  const references = new Map<string, unknown>()
  for (const { section, name, tag, value } of listRepeated(operations.flatMap(listParts))) {
    const free = [name, `${tag}${name}`].find((each) => !Object.hasOwn(components[section], each))
    if (free === undefined) continue
    components[section][free] = value
    references.set(JSON.stringify(value), { $ref: `#/components/${section}/${free}` })
  }
  const refer = (paths: Paths): unknown =>
    JSON.parse(JSON.stringify(paths, (_key, value) => references.get(JSON.stringify(value)) ?? value))
  return {
    paths: refer(document.paths),
    webhooks: refer(document.webhooks),
    components: mapValues(components, (section) =>
      Object.fromEntries(Object.entries(section).sort(([one], [other]) => (one < other ? -1 : 1))),
    ),
  }
}

/** Each once, the most frequent first. */
const listRepeated = (parts: readonly Part[]): readonly Part[] => {
  const groups = new Map<string, Part[]>()
  for (const part of parts) {
    const text = JSON.stringify(part.value)
    groups.set(text, [...(groups.get(text) ?? []), part])
  }
  return [...groups.values()]
    .filter((group) => group.length > 1)
    .sort((one, other) => other.length - one.length)
    .flatMap((group) => group.slice(0, 1))
}

const listParts = ({ tags, parameters = [], requestBody, responses }: Operation): readonly Part[] => {
  const part = (section: Part['section'], value: unknown, name: string | null): readonly Part[] =>
    name === null ? [] : [{ section, name: toPascalCase(name), tag: toPascalCase(tags.join(' ')), value }]
  return [
    ...parameters.flatMap((parameter) => part('parameters', parameter, parameter.name)),
    ...(requestBody === undefined ? [] : part('requestBodies', requestBody, nameBody(requestBody))),
    ...Object.values(responses).flatMap((response) => part('responses', response, nameBody(response))),
  ]
}

const schemaReference = /^\{"\$ref":"#\/components\/schemas\/(\w+?)(?:Input)?"\}$/

/** By its error codes, as `InvalidRequest`, or their status if they are many, or its schema; null if it has none. */
const nameBody = ({ content }: Body): string | null => {
  const { schema, examples } = content?.['application/json'] ?? {}
  const codes = Object.keys(examples ?? {})
  if (codes.length > 0 && codes.every(isErrorCode)) {
    const [code] = codes
    if (code !== undefined && codes.length > 2) return STATUS_CODES[errorStatus[code]] ?? null
    return codes.join('_OR_').toLowerCase()
  }
  return schemaReference.exec(JSON.stringify(schema) ?? '')?.[1] ?? null
}

const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(errorStatus, text)

/** `rate_limited` becomes `RateLimited`, `webhook-id` `WebhookId`. */
const toPascalCase = (text: string): string =>
  text.replaceAll(/(?:^|[^A-Za-z]+)(\w?)/g, (_match, letter: string) => letter.toUpperCase())

export const mapValues = <Value, Mapped>(
  values: Readonly<Record<string, Value>>,
  map: (value: Value, key: string) => Mapped,
): Record<string, Mapped> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value, key)]))
