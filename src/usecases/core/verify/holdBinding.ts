import type { AgentHold, HeldPayments } from '../../../ports/heldPayments.js'
import type { RecipientStatement } from '../../../ports/recipients.js'
import type { Payment } from '../../../protocol/payment.js'
import type { Refusal, Scheme } from '../../../schemes/scheme.js'
import { normalizeWith } from '../../../schemes/spelling.js'

/**
 * Which account a hold belongs to that a key of ours moves. Only one account ever has it: otherwise the payer could settle the
 * payment by an account of its own, and void it after the merchant delivered.
 */
export interface HoldBinding {
  /** Why the caller may not have the payment held; null: it may, or the payment asks for no such hold. */
  judge(scheme: Scheme, payment: Payment, caller: string): Promise<Refusal | null>
  /** The same, and binds the hold to the caller. Called before anything is sent. */
  bind(scheme: Scheme, payment: Payment, caller: string): Promise<Refusal | null>
}

export const noHoldBinding: HoldBinding = { judge: async () => null, bind: async () => null }

interface HoldBindingDependencies {
  readonly store: Pick<HeldPayments, 'bind' | 'findAccount'>
  /** What an account, or the operator's configuration, has stated for the recipient; null: nothing. */
  readonly findStatement: (recipient: {
    readonly network: string
    readonly payTo: string
  }) => Promise<RecipientStatement | null>
}

export const createHoldBinding = ({ store, findStatement }: HoldBindingDependencies): HoldBinding => {
  const createRule =
    (findOwner: (hold: AgentHold, caller: string) => Promise<string | null>) =>
    async (scheme: Scheme, payment: Payment, caller: string): Promise<Refusal | null> => {
      const hold = scheme.agency?.find(payment) ?? null
      if (hold === null) return null
      const refuse = (message: string): Refusal => ({
        isValid: false,
        payer: hold.payer,
        reason: 'invalid_auth_capture_evm_receiver_authorizer_mismatch',
        message: `extra.receiverAuthorizer: ${message}`,
      })
      if (caller === 'anonymous') {
        return refuse(
          'this facilitator captures for accounts only; send the API key of the one that will capture',
        )
      }
      const { network, payTo } = hold
      const statement = await findStatement({ network, payTo: normalizeWith(scheme.network, payTo) })
      const claimant = statement?.accountId ?? null
      if (claimant !== null && claimant !== caller) {
        return refuse('another account has stated that the recipient is its own')
      }
      const owner = await findOwner(hold, caller)
      return owner === null || owner === caller ? null : refuse('the payment is bound to another account')
    }
  return { judge: createRule(store.findAccount), bind: createRule(store.bind) }
}
