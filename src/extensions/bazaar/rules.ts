import type { SchemaVerdict } from '../../ports/discovery.js'
import { type Fields, isFields } from '../../protocol/fields.js'
import { hasHiddenCharacters, measureJson } from './bounds.js'
import type { Declaration } from './declaration.js'
import { isIconUrl, isServiceName, readTags } from './listing.js'
import {
  findHostProblem,
  findTemplateProblem,
  findUrlProblem,
  isPrivateHost,
  parseUrl,
} from './resourceUrl.js'

const declarationLimits = { bytes: 65_536, depth: 32, nodes: 2_000 } as const

interface RuleSubject {
  readonly declaration: Declaration
  readonly allowsPrivateHosts: boolean
  readonly schemaVerdict: SchemaVerdict
}

export interface Rule {
  readonly name: string
  readonly sentence: string
  /** Rules that must hold for this one to be checked. */
  readonly needs: readonly string[]
  /** `drops`: what breaks it is left out; the resource is listed all the same. */
  readonly effect: 'rejects' | 'drops'
  readonly judgesSchema: boolean
  /** Null: it holds; else what is wrong, as the end of a sentence. */
  check(subject: RuleSubject): string | null
}

const partsOf = ({ declaration }: RuleSubject): Fields =>
  isFields(declaration.content) ? declaration.content : {}

const inputOf = (subject: RuleSubject): Fields => {
  const { info } = partsOf(subject)
  return isFields(info) && isFields(info.input) ? info.input : {}
}

const bounded = ['shape', 'depth', 'nodes', 'size']
const located = ['resource_url']

const ruleOf = (
  name: string,
  sentence: string,
  needs: readonly string[],
  check: Rule['check'],
  effect: Rule['effect'] = 'rejects',
): Rule => ({ name, sentence, needs, effect, judgesSchema: false, check })

const schemaRuleOf = (...parts: Parameters<typeof ruleOf>): Rule => ({
  ...ruleOf(...parts),
  judgesSchema: true,
})

/** In the order of checking; the first that fails is the reason of a rejection. */
export const rules: readonly Rule[] = [
  ruleOf('shape', '`bazaar` is an object with the objects `info` and `schema`.', [], (subject) => {
    if (!isFields(subject.declaration.content)) return 'bazaar is not an object'
    const missing = ['info', 'schema'].find((part) => !isFields(partsOf(subject)[part]))
    return missing === undefined ? null : `${missing} is missing or not an object`
  }),
  ruleOf(
    'nodes',
    `The declaration has at most ${declarationLimits.nodes} keys and array elements.`,
    ['shape'],
    ({ declaration }) =>
      measureJson(declaration.content, declarationLimits.nodes).nodes > declarationLimits.nodes
        ? `it has more than ${declarationLimits.nodes}`
        : null,
  ),
  ruleOf(
    'depth',
    `The declaration is nested at most ${declarationLimits.depth} levels.`,
    ['nodes'],
    ({ declaration }) => {
      const { depth } = measureJson(declaration.content, declarationLimits.nodes)
      return depth > declarationLimits.depth ? `it has ${depth} levels` : null
    },
  ),
  ruleOf(
    'size',
    `The declaration is at most ${declarationLimits.bytes / 1_024} kB as JSON.`,
    ['depth'],
    ({ declaration }) => {
      const bytes = Buffer.byteLength(JSON.stringify(declaration.content))
      return bytes > declarationLimits.bytes ? `it has ${bytes} bytes` : null
    },
  ),
  ruleOf('input_type', '`info.input.type` is `http` or `mcp`.', bounded, (subject) => {
    const { type } = inputOf(subject)
    return type === 'http' || type === 'mcp' ? null : 'info.input.type is another'
  }),
  ruleOf(
    'method',
    'HTTP: `info.input.method` is GET, HEAD, DELETE, POST, PUT or PATCH.',
    ['input_type'],
    (subject) => findInputProblem('method', inputOf(subject)),
  ),
  ruleOf(
    'body',
    'HTTP: POST, PUT and PATCH have `bodyType` (`json`, `form-data` or `text`) and the object `body`; the others have neither.',
    ['method'],
    (subject) => findInputProblem('body', inputOf(subject)),
  ),
  ruleOf(
    'parameters',
    'HTTP: `queryParams`, `pathParams` and `headers` are objects where present; values of `headers` are strings (version 2).',
    ['input_type'],
    (subject) =>
      findInputProblem(subject.declaration.version === 1 ? 'parameters1' : 'parameters', inputOf(subject)),
  ),
  ruleOf(
    'tool',
    'MCP: `toolName` has 1 to 128 visible characters, `inputSchema` is an object, `transport` is `streamable-http` or `sse` where present.',
    ['input_type'],
    (subject) => findInputProblem('tool', inputOf(subject)),
  ),
  ruleOf('output', '`info.output` is an object where present.', bounded, (subject) => {
    const { info } = partsOf(subject)
    const output = isFields(info) ? info.output : undefined
    return output === undefined || isFields(output) ? null : 'info.output is not an object'
  }),
  ruleOf(
    'references',
    '`$ref`, `$id` and `$dynamicRef` begin with `#`: a schema never leads outside itself.',
    bounded,
    (subject) => {
      const keyword = findOutsideReference(partsOf(subject).schema)
      return keyword === null ? null : `a ${keyword} does not begin with #`
    },
  ),
  schemaRuleOf(
    'schema',
    '`schema` is a JSON Schema (2020-12) whose references resolve.',
    [...bounded, 'references'],
    ({ schemaVerdict }) => (schemaVerdict.kind === 'broken' ? schemaVerdict.problem : null),
  ),
  schemaRuleOf(
    'validation_time',
    'Checking `info` against `schema` takes at most a quarter of a second.',
    ['schema'],
    ({ schemaVerdict }) =>
      schemaVerdict.kind === 'timeout' ? 'it was cut: simplify its patterns and references' : null,
  ),
  schemaRuleOf(
    'info_matches_schema',
    '`info` is valid against `schema`.',
    ['validation_time'],
    ({ schemaVerdict }) => (schemaVerdict.kind === 'mismatch' ? schemaVerdict.problem : null),
  ),
  ruleOf(
    'resource_url',
    'The URL of the resource is absolute, http or https, with a host, without credentials and invisible characters, and has at most 2,048 characters.',
    [],
    ({ declaration }) => findUrlProblem(declaration.resource),
  ),
  ruleOf(
    'host_script',
    'The host has no invisible characters and mixes no writing systems in a label.',
    located,
    ({ declaration }) => findHostProblem(parseUrl(declaration.resource ?? '')?.hostname ?? ''),
  ),
  ruleOf(
    'host_public',
    'The host is public: not loopback, private, link-local, a single label, `.local`, `.internal` or `.localhost`.',
    located,
    ({ declaration, allowsPrivateHosts }) => {
      const hostname = parseUrl(declaration.resource ?? '')?.hostname ?? ''
      return allowsPrivateHosts || !isPrivateHost(hostname) ? null : 'it is private'
    },
  ),
  ruleOf(
    'route_template',
    '`routeTemplate` is a path of letters, digits and `_ / : . - ~ %` that holds no `..`, `//` or `://`, however often it is percent-encoded.',
    [],
    (subject) => {
      const { routeTemplate } = partsOf(subject)
      return routeTemplate === undefined ? null : findTemplateProblem(routeTemplate)
    },
    'drops',
  ),
  ruleOf(
    'service_name',
    '`resource.serviceName` has 1 to 32 printable ASCII characters.',
    [],
    ({ declaration: { details } }) =>
      details.serviceName === undefined || isServiceName(details.serviceName) ? null : 'it is left out',
    'drops',
  ),
  ruleOf(
    'tags',
    '`resource.tags` has at most 5 different tags of 1 to 32 printable ASCII characters.',
    [],
    ({ declaration: { details } }) => {
      const { tags } = details
      if (tags === undefined) return null
      return Array.isArray(tags) && readTags(tags).length === tags.length ? null : 'some are left out'
    },
    'drops',
  ),
  ruleOf(
    'icon_url',
    '`resource.iconUrl` is a http or https URL with a public name as host, without credentials, of at most 2,048 characters.',
    [],
    ({ declaration: { details } }) =>
      details.iconUrl === undefined || isIconUrl(details.iconUrl) ? null : 'it is left out',
    'drops',
  ),
]

const referring: readonly string[] = ['$ref', '$id', '$dynamicRef', '$recursiveRef']

/** Null: no reference leaves the schema. At every place, as x402 checks it; depth is bounded by an earlier rule. */
const findOutsideReference = (node: unknown): string | null => {
  if (typeof node !== 'object' || node === null) return null
  for (const [key, value] of Object.entries(node)) {
    if (referring.includes(key) && !(typeof value === 'string' && value.startsWith('#'))) return key
    const inner = findOutsideReference(value)
    if (inner !== null) return inner
  }
  return null
}

const queryMethods: readonly unknown[] = ['GET', 'HEAD', 'DELETE']
const bodyMethods: readonly unknown[] = ['POST', 'PUT', 'PATCH']
const bodyTypes: readonly unknown[] = ['json', 'form-data', 'text']
const transports: readonly unknown[] = ['streamable-http', 'sse']
const maxToolNameLength = 128

type InputRule = 'method' | 'body' | 'parameters' | 'parameters1' | 'tool'

/** Null: the rule holds, or is not for this kind of input. */
const findInputProblem = (rule: InputRule, input: Fields): string | null => {
  if (rule === 'tool') return input.type === 'mcp' ? findToolProblem(input) : null
  if (input.type !== 'http') return null
  switch (rule) {
    case 'method':
      return queryMethods.includes(input.method) || bodyMethods.includes(input.method)
        ? null
        : 'info.input.method is missing or another'
    case 'body':
      return findBodyProblem(input)
    case 'parameters':
      return findParameterProblem(input) ?? findHeaderProblem(input)
    case 'parameters1':
      return findParameterProblem(input)
  }
}

const findBodyProblem = ({ method, bodyType, body }: Fields): string | null => {
  if (!bodyMethods.includes(method)) {
    const present = bodyType !== undefined ? 'bodyType' : body !== undefined ? 'body' : null
    return present === null ? null : `info.input.${present} is set although ${String(method)} has no body`
  }
  if (!bodyTypes.includes(bodyType)) return 'info.input.bodyType is missing or another'
  return isFields(body) ? null : 'info.input.body is missing or not an object'
}

const findParameterProblem = (input: Fields): string | null => {
  const wrong = ['queryParams', 'pathParams', 'headers'].find(
    (name) => input[name] !== undefined && !isFields(input[name]),
  )
  return wrong === undefined ? null : `info.input.${wrong} is not an object`
}

const findHeaderProblem = ({ headers }: Fields): string | null =>
  isFields(headers) && Object.values(headers).some((value) => typeof value !== 'string')
    ? 'a value of info.input.headers is not a string'
    : null

const findToolProblem = ({ toolName, inputSchema, transport }: Fields): string | null => {
  if (typeof toolName !== 'string' || toolName.trim() === '' || toolName.length > maxToolNameLength) {
    return `info.input.toolName does not have 1 to ${maxToolNameLength} characters`
  }
  if (hasHiddenCharacters(toolName)) return 'info.input.toolName contains invisible characters'
  if (!isFields(inputSchema)) return 'info.input.inputSchema is missing or not an object'
  return transport === undefined || transports.includes(transport) ? null : 'info.input.transport is another'
}
