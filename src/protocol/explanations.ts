import { z } from 'zod'
import { operationalCodes } from './reasons/reasonEntry.js'
import { reasonName } from './results.js'
import { ruleTitles } from './rules/ruleNames.js'
import { factTitles } from './rules/rules.js'

/* `POST /v1/explain` and `GET /v1/reasons`. */

/** Longest text that is repeated from a request or a chain. */
export const maxShownLength = 100

const comparison = {
  path: z
    .string()
    .optional()
    .meta({
      description: 'Where in the request',
      examples: ['paymentPayload.payload.authorization.to'],
    }),
  found: z
    .string()
    .optional()
    .meta({ description: `What is there: escaped to ASCII and cut to ${maxShownLength} characters` }),
  expected: z.string().optional().meta({ description: 'What must be there' }),
}

// Documented as an enumeration and read as a string: a client stays valid where a later version has more.
const names = (titles: object) => z.string().meta({ enum: Object.keys(titles) })

const explainedRule = z
  .object({
    rule: names(ruleTitles).meta({ id: 'RuleName', description: 'Stable name of the rule' }),
    title: z.string().meta({ description: 'What is true where the rule holds' }),
    state: z.enum(['passed', 'failed', 'skipped', 'unknown']).meta({
      description:
        '`skipped`: it cannot be decided while another rule is broken. `unknown`: the chain or the database did not answer',
    }),
    ...comparison,
    problems: z.array(z.object(comparison)).optional().meta({
      description: 'Further mistakes that break the same rule, at most 20',
    }),
    message: z.string().optional().meta({ description: 'What is wrong, as a sentence' }),
    remedy: z.string().optional().meta({ description: 'How to mend it' }),
    reason: reasonName,
    errorCode: z
      .string()
      .optional()
      .meta({
        description: 'Code of the error that /verify answers in place of a verdict',
        examples: ['INVALID_REQUEST'],
      }),
    blockedBy: z.string().optional().meta({ description: 'The rule for which this one was skipped' }),
  })
  .meta({ id: 'ExplainedRule' })

export type ExplainedRule = z.infer<typeof explainedRule>

export const explanation = z
  .object({
    verdict: z.enum(['valid', 'invalid', 'unknown']).meta({
      description:
        '`valid` and `invalid`: what /verify would answer now, whatever is paused and whatever quota is left. `unknown`: it would answer with an error that can be retried',
    }),
    reason: reasonName,
    errorCode: z.string().optional().meta({
      description: 'In place of a reason where /verify answers with an error: `INVALID_REQUEST` and the like',
    }),
    scheme: z.string().optional(),
    network: z.string().optional().meta({ description: 'CAIP-2 identifier' }),
    payer: z.string().optional(),
    rules: z.array(explainedRule).meta({
      description:
        'In the order in which /verify checks them; the first one that failed is the reason. Those that were not reached ' +
        'come last',
    }),
    facts: z
      .array(
        z
          .object({
            fact: names(factTitles).meta({ id: 'FactName', description: 'Stable name of the fact' }),
            title: z.string(),
            value: z.string(),
          })
          .meta({ id: 'ExplainedFact' }),
      )
      .meta({ description: 'What helps to mend a payment, as far as it is known' }),
    sandbox: z.literal(true).optional().meta({ description: 'Only of a sandbox: no payment is real' }),
  })
  .meta({ id: 'Explanation' })

export type Explanation = z.infer<typeof explanation>

const entry = {
  title: z.string().meta({ description: 'The sentence that answers carry' }),
  explanation: z.string().meta({ description: 'When it happens' }),
  remedy: z.string().meta({ description: 'What to do' }),
  retryable: z.boolean().meta({ description: 'Whether the same request may succeed later' }),
  operationalCode: z
    .string()
    .optional()
    .meta({ description: 'Operational code, where one applies', enum: Object.keys(operationalCodes) }),
}

export const reasonCatalogue = z
  .object({
    reasons: z.array(z.object({ reason: z.string(), ...entry }).meta({ id: 'ReasonEntry' })),
    errorCodes: z.array(
      z
        .object({ code: z.string(), status: z.int(), explanation: entry.explanation, remedy: entry.remedy })
        .meta({ id: 'ErrorCodeEntry' }),
    ),
  })
  .meta({ id: 'ReasonCatalogue' })

export type ReasonCatalogue = z.infer<typeof reasonCatalogue>
