import type { ListedResource } from '../../ports/discoveryCatalogue.js'
import type { SchemaValidator, SchemaVerdict } from '../../ports/schemaValidator.js'
import { isFields } from '../../protocol/fields.js'
import { checkSchema } from './checkSchema.js'
import type { Declaration } from './declaration.js'
import { readListing } from './listing.js'
import { type Rule, rules } from './rules.js'

export interface CheckedRule {
  readonly rule: Rule
  /** `not_checked`: a rule that it builds on failed. */
  readonly status: 'passed' | 'failed' | 'not_checked'
  /** Of a failed rule: what is wrong. */
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
): Promise<Explanation> => {
  let verdict: SchemaVerdict | null = null
  const passed = new Set<string>()
  const check = async (rule: Rule): Promise<CheckedRule> => {
    if (!rule.needs.every((name) => passed.has(name))) return { rule, status: 'not_checked', problem: null }
    if (rule.judgesSchema) {
      const { schema, info } = isFields(declaration.content) ? declaration.content : {}
      verdict ??= await checkSchema(schemaValidator, schema, info)
    }
    const problem = rule.check({ declaration, allowsPrivateHosts, schemaVerdict: verdict })
    if (problem !== null) return { rule, status: 'failed', problem }
    passed.add(rule.name)
    return { rule, status: 'passed', problem: null }
  }
  const checked: CheckedRule[] = []
  for (const rule of rules) checked.push(await check(rule))
  const first = checked.find(({ rule, status }) => status === 'failed' && rule.effect === 'rejects')
  return {
    rules: checked,
    failed: first === undefined ? null : { name: first.rule.name, reason: describeFailure(first) },
    listing: first === undefined ? readListing(declaration, passed) : null,
  }
}

const describeFailure = ({ rule, problem }: CheckedRule): string => `${rule.sentence} Here: ${problem ?? ''}.`
