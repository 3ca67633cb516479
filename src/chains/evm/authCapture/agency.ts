import { type Hex, zeroAddress } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { z } from 'zod'
import type { Secret } from '../../../platform/secret.js'
import type { AgentHold, HoldMove } from '../../../ports/heldPayments.js'
import { type Payment, statedByNone } from '../../../protocol/payment.js'
import type { HoldAgency } from '../../../schemes/holdAgency.js'
import { addressField, hashField, isSameAddress, readAddress, wholeNumberField } from '../abi/address.js'
import { toDate } from '../paymentMethod.js'
import { type Rpc, tryCall } from '../rpc/rpc.js'
import type { EvmNetworkSettings } from '../settings.js'
import {
  decodePaymentState,
  encodeStateCall,
  findDeployment,
  formatPaymentId,
  hashPaymentInfo,
  type PaymentInfo,
} from './contracts.js'
import { isLifecycle, type LifecycleProof, readCollectProof } from './payload.js'
import { maxBps, readInfo } from './rules.js'
import { hashLifecycle } from './signatures.js'
import { readCollectTerms } from './terms.js'

/* Keys of ours as `receiverAuthorizer`: a merchant without a key has its holds captured by its API key. */

/** Errors never contain a key. */
export const readHoldAuthorizers = (keys: readonly Secret[]): readonly PrivateKeyAccount[] =>
  keys.map((key, index) => {
    try {
      return privateKeyToAccount(`0x${key.reveal().slice(2)}`)
    } catch {
      throw new Error(`EVM_HOLD_AUTHORIZER_KEY: key ${index + 1} is not a valid secp256k1 key`)
    }
  })

const numberField = wholeNumberField.transform(Number)

const termsShape = z.object({
  escrow: addressField,
  receiverAuthorizer: addressField,
  saltNonce: wholeNumberField,
  info: z.object({
    operator: addressField,
    payer: addressField,
    receiver: addressField,
    token: addressField,
    maxAmount: wholeNumberField,
    preApprovalExpiry: numberField,
    authorizationExpiry: numberField,
    refundExpiry: numberField,
    minFeeBps: numberField,
    maxFeeBps: numberField,
    feeReceiver: addressField,
    salt: wholeNumberField,
  }),
})

type Terms = z.infer<typeof termsShape>

const toTexts = <Values extends Readonly<Record<string, string | number | bigint | null>>>(values: Values) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]))

interface HoldAgencyDependencies {
  readonly rpc: Rpc
  readonly network: Pick<EvmNetworkSettings, 'network' | 'chainId'>
  readonly holdAuthorizers: readonly PrivateKeyAccount[]
}

export const createHoldAgency = ({
  rpc,
  network: { network, chainId },
  holdAuthorizers,
}: HoldAgencyDependencies): HoldAgency => {
  const findKey = (address: Hex): PrivateKeyAccount | null =>
    holdAuthorizers.find((each) => isSameAddress(each.address, address)) ?? null

  return {
    find: (payment) => {
      if (isLifecycle(payment.proof)) return null
      const reading = readCollectProof(payment.proof)
      const terms = readCollectTerms(payment.requirements.extra)
      if ('problem' in reading || 'reason' in terms || findKey(terms.receiverAuthorizer) === null) return null
      const info = terms.flow === 'escrow' ? readInfo(payment, reading.proof, terms) : null
      const { saltNonce } = reading.proof
      if (info === null || saltNonce === null) return null
      const { escrow } = terms.deployment
      const { receiverAuthorizer } = terms
      const hash = hashPaymentInfo({ chainId, escrow }, info)
      return {
        network,
        hash,
        authorizationId: formatPaymentId(network, escrow, hash),
        payer: info.payer,
        payTo: info.receiver,
        asset: info.token,
        amount: info.maxAmount,
        captureDeadline: toDate(BigInt(info.authorizationExpiry)),
        refundDeadline: toDate(BigInt(info.refundExpiry)),
        terms: { escrow, receiverAuthorizer, saltNonce: `${saltNonce}`, info: toTexts({ ...info }) },
      }
    },

    readState: async ({ hash, terms }) => {
      const { escrow } = termsShape.parse(terms)
      const data = encodeStateCall(hashField.parse(hash))
      const state = decodePaymentState(await tryCall(rpc, { to: escrow, data }))
      if (state === null) throw new Error('The escrow does not answer what it holds')
      return state
    },

    sign: async (hold, move) => {
      const terms = termsShape.parse(hold.terms)
      const key = findKey(terms.receiverAuthorizer)
      const deployment = findDeployment(terms.escrow)
      if (key === null || deployment === null) return null
      const proof = toProof(terms, move, deployment.version)
      const { operator } = terms.info
      const digest = hashLifecycle({ chainId, operator, deployment }, hashField.parse(hold.hash), proof)
      return toPayment(hold, terms, { ...proof, authorizerSignature: await key.sign({ hash: digest }) })
    },
  }
}

const toProof = ({ info, saltNonce }: Terms, move: HoldMove, version: '1.0' | '1.1'): LifecycleProof => {
  const bound = { info, saltNonce, authorizerSignature: null }
  if (move.type === 'void') return { type: 'void', ...bound }
  const { amount, capturable: expectedCapturable, refundable: expectedRefundable } = move
  const moved = { ...bound, amount, expectedCapturable, expectedRefundable }
  if (move.type === 'refund') return { type: 'refund', ...moved }
  const fee = move.fee ?? findLowestFee(amount, info, version)
  const feeReceiver = readAddress(move.feeReceiver) ?? findFeeReceiver(fee, info)
  return { type: 'capture', ...moved, fee, feeReceiver, voidAuthorizerSignature: null }
}

const findLowestFee = (amount: bigint, { minFeeBps }: PaymentInfo, version: '1.0' | '1.1'): bigint =>
  version === '1.1' ? (amount * BigInt(minFeeBps)) / maxBps : BigInt(minFeeBps)

/** Where the terms name none, the escrow takes any address but the zero one: then the fee is the receiver's as well. */
const findFeeReceiver = (fee: bigint, { feeReceiver, receiver }: PaymentInfo): Hex =>
  fee > 0n && isSameAddress(feeReceiver, zeroAddress) ? receiver : feeReceiver

/** As servers send it to /settle. */
const toPayment = (
  { network, amount, payTo, asset }: AgentHold,
  { escrow, receiverAuthorizer, info }: Terms,
  proof: LifecycleProof,
): Payment => ({
  version: 2,
  callerNetwork: network,
  requirements: {
    scheme: 'auth-capture',
    network,
    amount,
    minAmount: null,
    asset,
    payTo,
    maxTimeoutSeconds: 60,
    extra: { captureAuthorizer: info.operator, receiverAuthorizer, authCaptureEscrow: escrow },
  },
  proof: {
    type: proof.type,
    paymentInfo: toTexts({ ...proof.info }),
    saltNonce: String(proof.saltNonce),
    authorizerSignature: proof.authorizerSignature,
    ...(proof.type === 'void'
      ? {}
      : {
          amount: `${proof.amount}`,
          expectedCapturableAmount: `${proof.expectedCapturable}`,
          expectedRefundableAmount: `${proof.expectedRefundable}`,
        }),
    ...(proof.type === 'capture' ? { fee: `${proof.fee}`, feeReceiver: proof.feeReceiver } : {}),
  },
  ...statedByNone,
})
