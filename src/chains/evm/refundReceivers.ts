import { z } from 'zod'
import { splitList } from '../common/familySettings.js'

/** A payee of `auth-capture` whose refunds the operator pays, and who asks for them. */
export interface RefundReceiver {
  readonly receiver: `0x${string}`
  /** The address whose signature asks for them, or, where a key of ours signs, the id of the account. */
  readonly authorizer: string
}

const account = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}'
const entryForm = new RegExp(
  `^0x(?<receiver>[0-9a-fA-F]{40})(?::(?<authorizer>0x[0-9a-fA-F]{40}|${account}))?$`,
)

/** `receiver:authorizer`, `receiver:account id`, or a receiver that signs by itself. */
export const refundReceivers = z.string().transform((text, context): readonly RefundReceiver[] => {
  const entries = text.trim() === 'none' ? [] : splitList(text)
  const read = entries.flatMap((entry) => {
    const { receiver, authorizer = `0x${receiver}` } = entryForm.exec(entry)?.groups ?? {}
    return receiver === undefined ? [] : [{ receiver: `0x${receiver}`, authorizer } as const]
  })
  if (read.length === entries.length) return read
  context.addIssue({
    code: 'custom',
    message: 'must list receiver, receiver:authorizer or receiver:account id, or be none',
  })
  return z.NEVER
})
