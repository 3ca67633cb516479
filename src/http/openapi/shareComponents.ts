import { errorStatus } from '../../errors.js'
import { mapValues } from './mapValues.js'

interface Body {
  readonly description?: unknown
  readonly content?:
    | Readonly<Record<string, { readonly schema?: unknown; readonly examples?: unknown }>>
    | undefined
}

interface Operation {
  readonly tags: readonly string[]
  readonly parameters?: readonly { readonly name: string }[] | undefined
  readonly requestBody?: Body | undefined
  readonly responses: Readonly<Record<string, Body>>
}

type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>

interface Part {
  readonly name: string
  readonly tag: string
  readonly value: unknown
}

/**
 * Makes components of the parameters, request bodies and responses that several operations have. Of different ones with
 * the same name the most frequent has it, as `Cursor`; the next has the tag of its first operation before it, as
 * `DiscoveryCursor`; others stay in their operations.
 */
export const shareComponents = (paths: Paths, webhooks: Paths) => {
  const operations = Object.values({ ...paths, ...webhooks }).flatMap((methods) => Object.values(methods))
  const list = (parts: (operation: Operation) => readonly Omit<Part, 'tag'>[]) =>
    operations.flatMap((operation) =>
      parts(operation).map((part) => ({ ...part, tag: toPascalCase(operation.tags.join(' ')) })),
    )
  const parameters = share(
    'parameters',
    list((operation) =>
      (operation.parameters ?? []).map((value) => ({ name: toPascalCase(value.name), value })),
    ),
  )
  const requestBodies = share(
    'requestBodies',
    list(({ requestBody }) => (requestBody === undefined ? [] : nameBody(requestBody))),
  )
  const responses = share(
    'responses',
    list((operation) => Object.values(operation.responses).flatMap(nameBody)),
  )
  const refer = (operation: Operation) => ({
    ...operation,
    ...(operation.parameters && { parameters: operation.parameters.map(parameters.refer) }),
    ...(operation.requestBody && { requestBody: requestBodies.refer(operation.requestBody) }),
    responses: mapValues(operation.responses, responses.refer),
  })
  const referAll = (all: Paths) => mapValues(all, (methods) => mapValues(methods, refer))
  return {
    paths: referAll(paths),
    webhooks: referAll(webhooks),
    components: {
      parameters: parameters.components,
      requestBodies: requestBodies.components,
      responses: responses.components,
    },
  }
}

const share = (section: string, parts: readonly Part[]) => {
  const names = new Map<string, string>()
  const components = new Map<string, unknown>()
  for (const { name, tag, value } of listRepeated(parts)) {
    const free = [name, `${tag}${name}`].find((each) => !components.has(each))
    if (free === undefined) continue
    components.set(free, value)
    names.set(JSON.stringify(value), free)
  }
  return {
    components: Object.fromEntries([...components].sort(([one], [other]) => (one < other ? -1 : 1))),
    refer: (value: unknown) => {
      const name = names.get(JSON.stringify(value))
      return name === undefined ? value : { $ref: `#/components/${section}/${name}` }
    },
  }
}

/** Each once, the most frequent first. */
const listRepeated = (parts: readonly Part[]): readonly Part[] => {
  const counts = new Map<string, { readonly part: Part; readonly count: number }>()
  for (const part of parts) {
    const text = JSON.stringify(part.value)
    const known = counts.get(text)
    counts.set(text, { part: known?.part ?? part, count: (known?.count ?? 0) + 1 })
  }
  return [...counts.values()]
    .filter(({ count }) => count > 1)
    .sort((one, other) => other.count - one.count)
    .map(({ part }) => part)
}

const schemaReference = /^\{"\$ref":"#\/components\/schemas\/(\w+?)(?:Input)?"\}$/

/** By its error codes, as `InvalidRequest`, or its schema; empty if it has neither. */
const nameBody = (value: Body): readonly Omit<Part, 'tag'>[] => {
  const { schema, examples } = value.content?.['application/json'] ?? {}
  const codes = Object.keys(examples ?? {})
  const isError = codes.length > 0 && codes.every((code) => Object.hasOwn(errorStatus, code))
  const [, name] = schemaReference.exec(JSON.stringify(schema) ?? '') ?? []
  if (isError) return [{ name: codes.map((code) => toPascalCase(code.toLowerCase())).join('Or'), value }]
  return name === undefined ? [] : [{ name, value }]
}

/** `rate_limited` becomes `RateLimited`, `webhook-id` `WebhookId`. */
const toPascalCase = (text: string): string =>
  text.replaceAll(/(?:^|[^A-Za-z]+)(\w?)/g, (_match, letter: string) => letter.toUpperCase())
