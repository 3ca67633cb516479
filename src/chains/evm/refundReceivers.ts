import { z } from 'zod'
import { splitList } from '../common/familySettings.js'

/** A payee of `auth-capture` whose refunds the operator pays, and the address whose signature asks for them. */
export interface RefundReceiver {
  readonly receiver: `0x${string}`
  readonly authorizer: `0x${string}`
}

const entryForm = /^0x(?<receiver>[0-9a-fA-F]{40})(?::0x(?<authorizer>[0-9a-fA-F]{40}))?$/

/** `receiver:authorizer`, or a receiver that signs by itself. */
export const refundReceivers = z.string().transform((text, context): readonly RefundReceiver[] => {
  const entries = text.trim() === 'none' ? [] : splitList(text)
  const read = entries.flatMap((entry) => {
    const { receiver, authorizer = receiver } = entryForm.exec(entry)?.groups ?? {}
    return receiver === undefined || authorizer === undefined
      ? []
      : [{ receiver: `0x${receiver}`, authorizer: `0x${authorizer}` } as const]
  })
  if (read.length === entries.length) return read
  context.addIssue({ code: 'custom', message: 'must list receiver or receiver:authorizer, or be none' })
  return z.NEVER
})
