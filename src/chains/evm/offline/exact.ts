import { isFields } from '../../../protocol/fields.js'
import type { Payment } from '../../../protocol/payment.js'
import type { OfflinePhase, OfflineScheme } from '../../../schemes/offlineScheme.js'
import { describeForeignMethod } from '../../../schemes/transferMethod.js'
import { readAddress } from '../abi/address.js'
import { readExactProof } from '../exact/payload.js'
import { createReadCandidate } from '../exact/prepare.js'
import { bothMethods, isPermit2, readOwner } from '../exactScheme.js'
import { toDate, toRefusal } from '../paymentMethod.js'
import { rules } from '../permit2/exact/method.js'
import { hashPermit } from '../permit2/exact/payload.js'
import { formatPermitId, readPermitProof } from '../permit2/payload.js'
import { formatAuthorizationId } from '../tokens/authorizations.js'
import {
  type EvmOfflineNetwork,
  noteSignature,
  type OfflineReading,
  phaseOf,
  refuseSignature,
} from './offlineNetwork.js'
import { createOfflinePermit2 } from './permit2.js'

/** `exact` by EIP-3009 and by Permit2. */
export const createOfflineExact = (offline: EvmOfflineNetwork): OfflineScheme => {
  const { id: network, chainId, tokens } = offline
  const readPermit2 = createOfflinePermit2(offline, {
    read: readPermitProof,
    hash: hashPermit,
    rules,
    amountOf: ({ amount }) => amount,
    holds: false,
  })

  const readAuthorization = async (
    payment: Payment,
    { now, isForSettle, trace }: OfflinePhase,
  ): Promise<OfflineReading> => {
    const read = createReadCandidate({ chainId, findToken: tokens.find, clock: { now: () => now } })
    const reading = await read(payment, phaseOf(isForSettle), trace)
    if ('refused' in reading) return reading.refused
    const { authorization, token } = reading.prepared.candidate
    const { from, value, validBefore, nonce } = authorization
    const refused = refuseSignature(reading.prepared.signature, from, 'invalid_exact_evm_payload_signature')
    if (trace !== undefined) noteSignature(refused, trace)
    if (refused !== null) return refused
    return {
      isValid: true,
      payer: from,
      authorizationId: formatAuthorizationId({ network, asset: token.address, from, nonce }),
      authorizedAmount: value,
      amount: value,
      expiresAt: toDate(validBefore),
      holds: false,
    }
  }

  return {
    kind: { scheme: 'exact', network },
    extra: { ...tokens.describe(null)?.extra, assetTransferMethods: bothMethods.names },
    network: offline,
    describeAsset: async (asset) => tokens.describe(asset),
    identify: (payment) => {
      if (isPermit2(payment)) {
        const reading = readPermitProof(payment.proof)
        return 'problem' in reading ? null : formatPermitId(network, reading.proof.permit)
      }
      const reading = readExactProof(payment.proof)
      const asset = readAddress(payment.requirements.asset)
      if ('problem' in reading || asset === null) return null
      const { from, nonce } = reading.proof.authorization
      return formatAuthorizationId({ network, asset, from, nonce })
    },
    findPayer: (payment) => {
      if (isPermit2(payment)) return readOwner(payment.proof)
      const { authorization } = payment.proof
      return isFields(authorization) ? readAddress(authorization.from) : null
    },
    read: async (payment, phase) => {
      const foreign = describeForeignMethod(payment, bothMethods)
      const reason = 'unsupported_asset_transfer_method'
      phase.trace?.note('transfer_method', foreign === null ? null : { reason, message: foreign })
      if (foreign !== null) {
        return toRefusal(readOwner(payment.proof), { reason, message: foreign })
      }
      return await (isPermit2(payment) ? readPermit2 : readAuthorization)(payment, phase)
    },
  }
}
