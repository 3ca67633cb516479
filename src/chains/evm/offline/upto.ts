import { isFields } from '../../../protocol/fields.js'
import type { Payment } from '../../../protocol/payment.js'
import type { OfflinePhase, OfflineScheme } from '../../../schemes/offlineScheme.js'
import { readAddress } from '../abi/address.js'
import { readOwner } from '../exactScheme.js'
import { toDate, toRefusal } from '../paymentMethod.js'
import { formatPermitId as formatPermit2Id } from '../permit2/payload.js'
import { chargeOf } from '../permit2/upto/call.js'
import { createRules } from '../permit2/upto/method.js'
import { hashUptoPermit, readUptoProof as readPermit2Proof } from '../permit2/upto/payload.js'
import { formatPermitId, readUptoProof } from '../upto/payload.js'
import { createReadCandidate } from '../upto/prepare.js'
import { foreignMessage, isTransferAuthorization, nameRouter } from '../uptoScheme.js'
import {
  type EvmOfflineNetwork,
  noteSignature,
  type OfflineReading,
  offlineRouters,
  offlineSigner,
  phaseOf,
  refuseSignature,
} from './offlineNetwork.js'
import { createOfflinePermit2 } from './permit2.js'

/** The sandbox behaves as if every listed token had a permit. */
const contracts = {
  routers: offlineRouters,
  takesSharedRouterPermits: false,
  findPermitProblem: async () => null,
}
const { shared } = offlineRouters

/** `upto` by a permit of the token and by Permit2. */
export const createOfflineUpto = (offline: EvmOfflineNetwork): OfflineScheme => {
  const { id: network, chainId, tokens } = offline
  const isPermit2 = ({ proof }: Payment): boolean => proof.permit2Authorization !== undefined
  const readPermit2 = createOfflinePermit2(offline, {
    read: readPermit2Proof,
    hash: hashUptoPermit,
    rules: createRules({ facilitators: [offlineSigner], router: shared }),
    amountOf: (_permit, payment) => chargeOf(payment),
    holds: true,
  })

  const readPermit = async (
    payment: Payment,
    { now, isForSettle, trace }: OfflinePhase,
  ): Promise<OfflineReading> => {
    const read = createReadCandidate({
      ...contracts,
      chainId,
      findToken: tokens.find,
      clock: { now: () => now },
    })
    const reading = await read(payment, phaseOf(isForSettle), trace)
    if ('refused' in reading) return reading.refused
    const { candidate, signature, amount } = reading.prepared
    const { permit, token } = candidate
    const refused = refuseSignature(signature, permit.owner, 'invalid_permit_signature')
    if (trace !== undefined) noteSignature(refused, trace)
    if (refused !== null) return refused
    return {
      isValid: true,
      payer: permit.owner,
      authorizationId: formatPermitId(network, token.address, permit),
      authorizedAmount: permit.value,
      amount,
      // The token accepts it up to and including the deadline.
      expiresAt: toDate(permit.deadline + 1n),
      holds: true,
    }
  }

  return {
    kind: { scheme: 'upto', network },
    extra: { assetTransferMethods: ['eip2612', 'permit2'], facilitatorAddress: shared },
    network: offline,
    describeAsset: async (asset, payTo) => {
      const terms = tokens.describe(asset)
      if (terms === null) return null
      const router = nameRouter(contracts.routers, readAddress(payTo), false)
      return {
        ...terms,
        extra: { ...terms.extra, ...router, facilitatorAddress: shared },
        overruled: { routerAddress: shared },
      }
    },
    identify: (payment) => {
      if (isPermit2(payment)) {
        const reading = readPermit2Proof(payment.proof)
        return 'problem' in reading ? null : formatPermit2Id(network, reading.proof.permit)
      }
      const reading = readUptoProof(payment.proof)
      const asset = readAddress(payment.requirements.asset)
      if ('problem' in reading || asset === null) return null
      return formatPermitId(network, asset, reading.proof.permit)
    },
    findPayer: (payment) => {
      if (isPermit2(payment)) return readOwner(payment.proof)
      const { authorization } = payment.proof
      return isFields(authorization) ? readAddress(authorization.owner) : null
    },
    read: async (payment, phase) => {
      const isForeign = isTransferAuthorization(payment.proof)
      const failure = { reason: 'unsupported_asset_transfer_method', message: foreignMessage } as const
      phase.trace?.note('transfer_method', isForeign ? failure : null)
      if (isForeign) return toRefusal(null, failure)
      return await (isPermit2(payment) ? readPermit2 : readPermit)(payment, phase)
    },
  }
}
