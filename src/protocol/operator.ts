import { z } from 'zod'
import { tierName } from './accounts.js'
import { nextCursor } from './results.js'

const timestamp = z.iso.datetime()

const networkName = z
  .string()
  .min(1)
  .max(128)
  .meta({ description: 'Any name of a network that this instance has', examples: ['eip155:8453'] })

const schemeName = z
  .string()
  .min(1)
  .max(64)
  .meta({ examples: ['exact'] })

const recipientName = z
  .string()
  .min(1)
  .max(128)
  .meta({
    description: 'A recipient, in any spelling of its network',
    examples: ['0x209693Bc6afc0C5328bA36FaF03C514EF312287C'],
  })

const accountId = z
  .uuid()
  .transform((text) => text.toLowerCase())
  .meta({ examples: ['0b8a7a0c-3f0e-4a9c-9d43-1f6f0a2a9d51'] })

/** In a request: as the operator names it. */
export const pauseTarget = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('network'), network: networkName }),
    z.strictObject({ kind: z.literal('scheme'), network: networkName, scheme: schemeName }),
    z.strictObject({ kind: z.literal('recipient'), network: networkName, payTo: recipientName }),
    z.strictObject({ kind: z.literal('account'), accountId }),
  ])
  .meta({ id: 'PauseTarget' })
export type PauseTargetRequest = z.infer<typeof pauseTarget>

/** One line of visible characters: callers, logs and tables show it. */
const visibleLine = (maxLength: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(maxLength)
    .regex(/^[^\p{C}\p{Zl}\p{Zp}]*$/u, 'must be one line of visible characters')

export const operatorName = visibleLine(100).meta({
  description: 'Who does it, for the audit trail: operators share one token',
  examples: ['Ada'],
})

export const pauseRequest = z
  .strictObject({
    target: pauseTarget,
    reason: visibleLine(200).meta({
      description: 'Callers that are refused read it',
      examples: ['The nodes of the network contradict each other'],
    }),
    by: operatorName.optional(),
  })
  .meta({ id: 'PauseRequest' })

const pauseView = z
  .object({
    target: z.union([
      z.object({ kind: z.literal('network'), network: z.string() }),
      z.object({ kind: z.literal('scheme'), network: z.string(), scheme: z.string() }),
      z.object({ kind: z.literal('recipient'), network: z.string(), payTo: z.string() }),
      z.object({ kind: z.literal('account'), accountId: z.string() }),
    ]),
    reason: z.string(),
    by: z.string().nullable(),
    since: timestamp,
  })
  .meta({ id: 'Pause' })
export type PauseView = z.infer<typeof pauseView>

export const pauseList = z.object({ pauses: z.array(pauseView).meta({ description: 'Oldest first' }) })
export type PauseList = z.infer<typeof pauseList>

export const pauseSet = z.object({
  pause: pauseView,
  changed: z.boolean().meta({ description: 'False: it was set like this before' }),
})
export type PauseSet = z.infer<typeof pauseSet>

export const pauseCleared = z.object({
  cleared: z.boolean().meta({ description: 'False: there was no such pause' }),
  pauses: z.array(pauseView).meta({ description: 'What is still paused' }),
})
export type PauseCleared = z.infer<typeof pauseCleared>

const operatorAccount = z
  .object({
    id: z.uuid(),
    email: z.string(),
    project: z.string(),
    tier: tierName,
    status: z.enum(['active', 'revoked']),
    createdAt: timestamp,
    lastUsedAt: timestamp.nullable().meta({ description: 'Of any of its keys, up to a minute late' }),
    keys: z.int().meta({ description: 'Keys that are active or retiring; expired ones included' }),
  })
  .meta({ id: 'OperatorAccount' })
export type OperatorAccount = z.infer<typeof operatorAccount>

export const operatorAccountView = operatorAccount

export const operatorAccountPage = z.object({
  accounts: z.array(operatorAccount).meta({ description: 'By e-mail address, then project' }),
  nextCursor,
})
export type OperatorAccountPage = z.infer<typeof operatorAccountPage>

const loose = z.record(z.string(), z.unknown())

export const operatorAuditPage = z.object({
  entries: z
    .array(
      z.object({
        id: z.uuid(),
        createdAt: timestamp,
        action: z.string(),
        target: loose.meta({ description: 'What was changed, by its `kind`' }),
        by: z.string().nullable().meta({ description: 'Name that the operator gave' }),
        address: z.string().nullable().meta({
          description: 'Client address; null for commands on the server and for changes to accounts',
        }),
        before: loose.nullable(),
        after: loose.nullable(),
      }),
    )
    .meta({ description: 'Newest first' }),
  nextCursor,
})
export type OperatorAuditPage = z.infer<typeof operatorAuditPage>
