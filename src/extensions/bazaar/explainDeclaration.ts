import type { ListedResource, SchemaValidator, SchemaVerdict, ValidationTurn } from '../../ports/discovery.js'
import { isFields } from '../../protocol/fields.js'
import { readVisibleText } from './bounds.js'
import { copySchema } from './copySchema.js'
import type { Declaration } from './declaration.js'
import { isIconUrl, isServiceName, readTags } from './listing.js'
import { toResourceKey } from './resourceUrl.js'
import { type Rule, rules } from './rules.js'

interface CheckedRule {
  readonly rule: Rule
  /** `not_checked`: a rule that it builds on failed. */
  readonly status: 'passed' | 'failed' | 'not_checked'
  /** What is wrong, if the rule failed. */
  readonly problem: string | null
}

export interface Explanation {
  readonly rules: readonly CheckedRule[]
  /** First failed rule that rejects; null: the declaration can be listed. */
  readonly failed: { readonly name: string; readonly reason: string } | null
  /** Null if it cannot be listed. */
  readonly listing: ListedResource | null
}

export interface DeclarationSettings {
  readonly allowsPrivateHosts: boolean
  readonly schemaValidator: SchemaValidator
}

/** Checks every rule. Bounded in time by the limits that come first. Rejects only if the validator does. */
export const explainDeclaration = async (
  declaration: Declaration,
  { allowsPrivateHosts, schemaValidator }: DeclarationSettings,
  turn: ValidationTurn,
): Promise<Explanation> => {
  const expected = checkRules(declaration, { allowsPrivateHosts, schemaVerdict: { kind: 'valid' } })
  if (!expected.rules.some(({ rule, status }) => rule.judgesSchema && status !== 'not_checked'))
    return expected
  const { schema, info } = isFields(declaration.content) ? declaration.content : {}
  const schemaVerdict = await checkSchema(schemaValidator, { schema, info }, turn)
  return schemaVerdict.kind === 'valid'
    ? expected
    : checkRules(declaration, { allowsPrivateHosts, schemaVerdict })
}

/** Every rule, where the schema has this verdict. */
export const checkRules = (
  declaration: Declaration,
  {
    allowsPrivateHosts,
    schemaVerdict,
  }: { readonly allowsPrivateHosts: boolean; readonly schemaVerdict: SchemaVerdict },
): Explanation => {
  const passed = new Set<string>()
  const checked = rules.map((rule): CheckedRule => {
    if (!rule.needs.every((name) => passed.has(name))) return { rule, status: 'not_checked', problem: null }
    const problem = rule.check({ declaration, allowsPrivateHosts, schemaVerdict })
    if (problem !== null) return { rule, status: 'failed', problem }
    passed.add(rule.name)
    return { rule, status: 'passed', problem: null }
  })
  const first = checked.find(({ rule, status }) => status === 'failed' && rule.effect === 'rejects')
  return {
    rules: checked,
    failed: first === undefined ? null : { name: first.rule.name, reason: describeFailure(first) },
    listing: first === undefined ? readListing(declaration, passed) : null,
  }
}

const describeFailure = ({ rule, problem }: CheckedRule): string => `${rule.sentence} Here: ${problem ?? ''}.`

const maxProblemLength = 300

/** Size, depth and references of the schema were checked before. */
const checkSchema = async (
  validator: SchemaValidator,
  { schema, info }: { readonly schema: unknown; readonly info: unknown },
  turn: ValidationTurn,
): Promise<SchemaVerdict> => {
  const copied = copySchema(schema)
  if ('problem' in copied) return { kind: 'broken', problem: copied.problem }
  const verdict = await validator.validate(copied.schema, info, turn)
  if (verdict.kind !== 'mismatch') return verdict
  const problem = readVisibleText(verdict.problem, maxProblemLength) ?? 'info does not match'
  return { kind: 'mismatch', problem }
}

const maxDescriptionLength = 1_000
const maxMimeTypeLength = 128

/** `passed` names the rules that hold: parts whose rule does not are left out. */
const readListing = (declaration: Declaration, passed: ReadonlySet<string>): ListedResource => {
  const { details, version } = declaration
  const { info, schema, routeTemplate } = isFields(declaration.content) ? declaration.content : {}
  const input = isFields(info) && isFields(info.input) ? info.input : {}
  const isMcp = input.type === 'mcp'
  const template =
    !isMcp && passed.has('route_template') && typeof routeTemplate === 'string' ? routeTemplate : null
  return {
    key: toResourceKey(declaration.resource ?? '', {
      routeTemplate: template,
      toolName: isMcp ? String(input.toolName) : '',
    }),
    type: isMcp ? 'mcp' : 'http',
    method: isMcp ? null : String(input.method),
    version,
    declaration: { info, schema, ...(template === null ? {} : { routeTemplate: template }) },
    extensionKeys: declaration.extensionKeys,
    description: readVisibleText(
      details.description ?? (isMcp ? input.description : undefined),
      maxDescriptionLength,
    ),
    mimeType: readVisibleText(details.mimeType, maxMimeTypeLength),
    serviceName: isServiceName(details.serviceName) ? details.serviceName : null,
    tags: readTags(details.tags),
    iconUrl: isIconUrl(details.iconUrl) ? details.iconUrl : null,
  }
}
