import type { Address, Hex } from 'viem'
import { z } from 'zod'
import { readAddress } from '../../../../src/chains/evm/abi/address.js'
import {
  type CreateScheme,
  createPaymentMethod,
  readOccasion,
  toRefusal,
} from '../../../../src/chains/evm/paymentMethod.js'
import type { SettlementCall } from '../../../../src/chains/evm/transactions/settlementCall.js'
import type { Payment } from '../../../../src/protocol/payment.js'
import { createToyCall, readToyJudge } from '../../../support/evm/toyCall.js'

const second = z
  .string()
  .regex(/^[0-9]{1,12}$/)
  .transform((digits) => BigInt(digits))

/** The proof of a payment by `ToySettlements`, whose payers sign nothing. */
const proofShape = z.object({
  id: z.custom<Hex>((text) => typeof text === 'string' && /^0x[0-9a-f]{64}$/.test(text)),
  payer: z
    .string()
    .transform(readAddress)
    .pipe(z.custom<Address>((address) => address !== null)),
  firstSecond: second,
  lastSecond: second,
})

interface Candidate {
  readonly payment: Payment
  readonly token: { readonly address: Address }
  readonly lastSecond: bigint
  readonly nowSeconds: bigint
  readonly marginSeconds: bigint
}

interface Prepared {
  readonly candidate: Candidate
  readonly call: SettlementCall
}

const findFailedCheck = ({ lastSecond, nowSeconds, marginSeconds }: Candidate) =>
  lastSecond >= nowSeconds + marginSeconds ? null : 'authorization_expired'

/** A scheme of the family: what one writes to add it, beside its line in the list of schemes. */
export const createToyScheme =
  (toy: Address): CreateScheme =>
  (dependencies) => {
    const { network, opened, rpc, clock } = dependencies
    const method = createPaymentMethod<Prepared>(dependencies, {
      identify: ({ proof }) => {
        const reading = proofShape.safeParse(proof)
        return reading.success ? `toy/${reading.data.id}` : null
      },
      prepare: async (payment, phase, trace) => {
        trace?.expect(['payload_fields', 'valid_before'])
        const reading = proofShape.safeParse(payment.proof)
        const payTo = readAddress(payment.requirements.payTo)
        if (!reading.success || payTo === null) {
          trace?.note('payload_fields', 'invalid_payload_structure')
          return { refused: toRefusal(null, { reason: 'invalid_payload_structure' }) }
        }
        trace?.note('payload_fields', null)
        const { lastSecond, payer } = reading.data
        const candidate = { payment, token: { address: toy }, lastSecond, ...readOccasion(clock, phase) }
        const failed = findFailedCheck(candidate)
        trace?.note('valid_before', failed)
        if (failed !== null) return { refused: toRefusal(payer, { reason: failed }) }
        const value = payment.requirements.amount
        const call = createToyCall(rpc, toy, { ...reading.data, payTo, value, sender: null, call: {} })
        return { prepared: { candidate, call } }
      },
      isWalletAsked: () => false,
      findFailedCheck,
      describe: () => ({}),
      readJudge: readToyJudge,
    })
    return {
      ...method,
      kind: { scheme: 'toy', network: network.network },
      network: opened,
      journalClaims: null,
      settledState: null,
      describeKind: () => ({ extra: undefined, extensions: [] }),
      describeAsset: async () => ({ asset: toy, decimals: 6, extra: {} }),
    }
  }
