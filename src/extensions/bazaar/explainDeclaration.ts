import type { ListedResource } from '../../ports/discoveryCatalogue.js'
import type { SchemaValidator, SchemaVerdict, ValidationTurn } from '../../ports/schemaValidator.js'
import { isFields } from '../../protocol/fields.js'
import { checkSchema } from './checkSchema.js'
import type { Declaration } from './declaration.js'
import { readListing } from './listing.js'
import { type Rule, rules } from './rules.js'

export interface CheckedRule {
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
