import type { Hex } from 'viem'
import { isFields } from '../../protocol/fields.js'
import type { Payment } from '../../protocol/payment.js'
import type { Scheme } from '../../schemes/scheme.js'
import { describeForeignMethod } from '../../schemes/transferMethod.js'
import { readAddress } from './abi/address.js'
import { type PaymentMethod, toRefusal } from './paymentMethod.js'
import { isPermitRow } from './permit2/judge.js'
import { listProxyExtensions } from './permit2/presence.js'
import type { ContractPresence } from './rpc/presence.js'

export interface ExactMethods {
  /** The default method; it describes the network and its tokens for both. */
  readonly eip3009: Scheme
  readonly permit2: PaymentMethod
  /** Whether a token has EIP-3009. */
  readonly hasAuthorizations: (asset: Hex) => Promise<boolean>
  /** Whether the network has Permit2 and x402's proxy. */
  readonly presence: ContractPresence
}

/**
 * `exact` on one network by EIP-3009 and by Permit2. `extra.assetTransferMethod` decides, else the form of the payload;
 * after a crash, the journal row.
 */
export const combineExactMethods = ({
  eip3009,
  permit2,
  hasAuthorizations,
  presence,
}: ExactMethods): Scheme => {
  const methodOf = (payment: Payment): PaymentMethod => (isPermit2(payment) ? permit2 : eip3009)
  return {
    ...eip3009,
    describeKind: () => {
      const { names } = presence.peek() === true ? bothMethods : eip3009Only
      const terms = eip3009.describeKind()
      return {
        extra: { ...terms?.extra, assetTransferMethods: names },
        extensions: [...(terms?.extensions ?? []), ...listProxyExtensions(presence)],
      }
    },
    identify: (payment) => methodOf(payment).identify(payment),
    verify: async (payment, options) => {
      if (describeForeignMethod(payment, eip3009Only) === null) return await eip3009.verify(payment, options)
      const hasPermit2 = await presence.ask()
      const foreign = describeForeignMethod(payment, hasPermit2 ? bothMethods : eip3009Only)
      if (foreign === null) return await methodOf(payment).verify(payment, options)
      const isMissing = !hasPermit2 && isPermit2(payment)
      const reason = 'unsupported_asset_transfer_method'
      const message = isMissing ? `${foreign}: this network lacks Permit2 or x402's proxy for it` : foreign
      return toRefusal(readOwner(payment.proof), { reason, message })
    },
    describeAsset: async (asset, payTo) => {
      const terms = await eip3009.describeAsset(asset, payTo)
      const token = terms === null ? null : readAddress(terms.asset)
      if (terms === null || token === null || (await hasAuthorizations(token))) return terms
      // Clients sign by EIP-3009 unless the requirements name another method.
      return (await presence.ask())
        ? { ...terms, extra: { ...terms.extra, assetTransferMethod: 'permit2' } }
        : null
    },
    resolve: (settlement, signal, options) =>
      (isPermitRow(settlement) ? permit2 : eip3009).resolve(settlement, signal, options),
  }
}

const eip3009Only = { names: ['eip3009'], fields: ['authorization'] } as const
export const bothMethods = {
  names: ['eip3009', 'permit2'],
  fields: ['authorization', 'permit2Authorization'],
} as const

export const isPermit2 = ({ proof, requirements }: Payment): boolean => {
  const { assetTransferMethod: required } = requirements.extra
  if (required === 'permit2') return true
  return required == null && proof.authorization === undefined && proof.permit2Authorization !== undefined
}

export const readOwner = ({ permit2Authorization: fields }: Payment['proof']) =>
  isFields(fields) ? readAddress(fields.from) : null
