import type { Requester } from '../../../ports/rateLimiter.js'
import type { Payment } from '../../../protocol/payment.js'
import { namesOf, runRules, type Trace } from '../../../protocol/rules/rules.js'
import type { ContractReader } from '../../chain.js'
import { isSameAddress, readAddress } from '../abi/address.js'
import { noteToken, structureRules } from '../explanations.js'
import { readOccasion, toRefusal } from '../paymentMethod.js'
import { encodeSignature, type PayerSignature, readSignature } from '../signatures/signature.js'
import { encodeBalanceCall } from '../tokens/erc20.js'
import type { RevertReason, SettlementCall } from '../transactions/settlementCall.js'
import { encodeStateCall, type Fee, formatPaymentId, hashPaymentInfo, planEscrowCall } from './contracts.js'
import { createJudge, type JudgedCall } from './judge.js'
import { readCollectProof } from './payload.js'
import {
  type AuthCaptureDependencies,
  type Prepare,
  type PreparedCapture,
  refusePayload,
} from './prepared.js'
import { explainCollectRevert, findCollectContradiction } from './reverts.js'
import { type Candidate, collectorOf, hashRules, maxBps, readInfo, subtractFee, termsRules } from './rules.js'
import { findAuthorizer, hashAuthorization, hashCharge } from './signatures.js'
import { readCollectTerms } from './terms.js'

/* The collection of a payment: `authorize` holds the amount in the escrow, `charge` pays it out at once. */

const names = [
  ...structureRules,
  'hold_terms',
  ...namesOf(termsRules),
  'signature',
  'wallet',
  ...namesOf(hashRules),
  'authorizer_signature',
] as const

/** The identity of a payment: the escrow collects it once, by whichever method. */
export const identifyCollection = (
  { network, chainId }: { readonly network: string; readonly chainId: number },
  payment: Payment,
): string | null => {
  const reading = readCollectProof(payment.proof)
  const terms = readCollectTerms(payment.requirements.extra)
  if ('problem' in reading || 'reason' in terms) return null
  const info = readInfo(payment, reading.proof, terms)
  if (info === null) return null
  const { escrow } = terms.deployment
  return formatPaymentId(network, escrow, hashPaymentInfo({ chainId, escrow }, info))
}

interface Wallet {
  readonly signature: PayerSignature
  readonly hasCode: boolean
}

export const createPrepareCollection = (dependencies: AuthCaptureDependencies): Prepare => {
  const { family, network, rpc, tokens, clock, accounts, contractReader, holdAuthorizers } = dependencies
  const { chainId } = network

  /** Tokens and Permit2 ask whatever has code (EIP-1271), also where a key of it signed (EIP-7702). */
  const readWallet = async (candidate: Candidate): Promise<Wallet | RevertReason> => {
    const { authorization, payment, token } = candidate
    const { name, version } = payment.requirements.extra
    const digest = hashAuthorization(authorization, {
      chainId,
      asset: token.address,
      name: typeof name === 'string' ? name : '',
      version: typeof version === 'string' ? version : '',
    })
    const [signature, code] = await Promise.all([
      readSignature(candidate.signature, digest, authorization.from),
      rpc.getCode(authorization.from),
    ])
    const hasCode = code !== '0x'
    if (signature === null || (signature.kind === 'contract' && !hasCode)) {
      return { reason: 'invalid_auth_capture_evm_signature' }
    }
    if (signature.kind === 'counterfactual' && !hasCode) {
      const isListed = family.smartWalletFactories.some((each) => isSameAddress(each, signature.factory))
      if (!family.deploysSmartWallets || !isListed) {
        return { reason: 'invalid_auth_capture_evm_erc6492_factory_not_allowed' }
      }
    }
    return { signature, hasCode }
  }

  const prepare: Prepare = async (payment, phase, trace) => {
    trace?.expect(names)
    const reading = readCollectProof(payment.proof)
    if ('problem' in reading) return refusePayload(reading.problem, trace)
    trace?.note('payload_fields', null)
    const { proof } = reading
    const payer = proof.authorization.from
    const refuse = (failure: RevertReason) => ({ refused: toRefusal(payer, failure) })
    const asset = readAddress(payment.requirements.asset)
    const finding = asset === null ? { refusedAs: 'unsupported_asset' as const } : await tokens.find(asset)
    // Tokens that are not configured may credit less than they say, which no simulation by an operator shows.
    const unlisted = 'token' in finding && !finding.token.isListed ? 'unsupported_asset' : null
    const refusedAs = 'refusedAs' in finding ? finding.refusedAs : unlisted
    if (refusedAs !== null || 'refusedAs' in finding) {
      const failure = { reason: refusedAs ?? 'unsupported_asset' } as const
      trace?.note('asset', failure)
      return refuse(failure)
    }
    if (trace !== undefined) noteToken(finding.token, payment, trace)

    const terms = readCollectTerms(payment.requirements.extra)
    const info = 'reason' in terms ? null : readInfo(payment, proof, terms)
    trace?.note('hold_terms', 'reason' in terms ? terms : null)
    if ('reason' in terms) return refuse(terms)
    if (info === null) return refuse({ reason: 'invalid_auth_capture_evm_extra' })
    const candidate: Candidate = {
      ...proof,
      payment,
      token: finding.token,
      terms,
      info,
      chainId,
      accounts,
      isAgent: holdAuthorizers.some(({ address }) => isSameAddress(address, terms.receiverAuthorizer)),
      ...readOccasion(clock, phase),
    }
    const early = runRules(termsRules, candidate, trace)
    if (early !== null && trace === undefined) return refuse(early)
    const wallet = await readWallet(candidate)
    if (trace !== undefined) noteWallet(wallet, trace)
    if (early !== null) return refuse(early)
    if ('reason' in wallet && trace === undefined) return refuse(wallet)
    const late = runRules(hashRules, candidate, trace)
    if ('reason' in wallet) return refuse(wallet)
    if (late !== null && trace === undefined) return refuse(late)
    const { requester } = phase
    const authorizer = await readAuthorizer(candidate, { reader: contractReader, requester })
    trace?.note('authorizer_signature', authorizer === null ? unsigned : null)
    if (late !== null) return refuse(late)
    if (authorizer === null) return refuse(unsigned)
    const isWalletAsked = wallet.hasCode || wallet.signature.kind !== 'ecdsa' || authorizer === 'contract'
    return { prepared: createPrepared(dependencies, candidate, { wallet, isWalletAsked }) }
  }
  return prepare
}

const unsigned = { reason: 'invalid_auth_capture_evm_authorizer_signature' } as const

const noteWallet = (wallet: Wallet | RevertReason, trace: Trace): void => {
  const isFactory = 'reason' in wallet && wallet.reason !== 'invalid_auth_capture_evm_signature'
  trace.note('signature', 'reason' in wallet && !isFactory ? wallet : null)
  if ('reason' in wallet && !isFactory) trace.skip('wallet', 'signature')
  else trace.note('wallet', 'reason' in wallet ? wallet : null)
}

/** `key` where nothing has to be signed, at /verify: the charge is stated at /settle. */
const readAuthorizer = async (
  candidate: Candidate,
  { reader, requester }: { readonly reader: ContractReader; readonly requester: Requester },
): Promise<'key' | 'contract' | null> => {
  const { charge, terms, chainId, signature } = candidate
  if (charge === null) return 'key'
  const { deployment, operator, receiverAuthorizer } = terms
  const hash = hashPaymentInfo({ chainId, escrow: deployment.escrow }, candidate.info)
  const signed = { ...charge, hash, collector: collectorOf(candidate), collectorData: signature }
  const digest = hashCharge({ chainId, operator, deployment }, signed)
  return await findAuthorizer(reader, {
    authorizer: receiverAuthorizer,
    digest,
    signature: charge.authorizerSignature,
    requester,
  })
}

/*
 * `authorize` takes about 156k gas and `charge` 165k; the first payment of an operator and token also creates the store that
 * holds it. The caps are those of `exact`, for which signers keep a balance.
 */
const keyGasCap = 500_000n
const walletGasCap = 1_000_000n
const deploymentGasCap = 2_000_000n
const collectReorgGas = 150_000n

/** The lowest fee that the payment allows: what /verify simulates before the receiver states one. */
const lowestFee = ({ authorization, info, terms }: Candidate): Fee => ({
  fee:
    terms.deployment.version === '1.1'
      ? (authorization.value * BigInt(info.minFeeBps)) / maxBps
      : BigInt(info.minFeeBps),
  feeReceiver: info.feeReceiver,
})

const createPrepared = (
  { rpc, network }: AuthCaptureDependencies,
  candidate: Candidate,
  { wallet, isWalletAsked }: { readonly wallet: Wallet; readonly isWalletAsked: boolean },
): PreparedCapture => {
  const { info, terms, authorization, chainId } = candidate
  const { deployment, operator } = terms
  const { escrow } = deployment
  const hash = hashPaymentInfo({ chainId, escrow }, info)
  const collector = collectorOf(candidate)
  const isCharge = terms.flow === 'authorization'
  const amount = candidate.charge?.amount ?? authorization.value
  const collected = {
    amount,
    collector,
    // Collectors unwrap ERC-6492 and deploy the wallet themselves.
    collectorData:
      wallet.signature.kind === 'ecdsa' ? encodeSignature(wallet.signature) : candidate.signature,
  }
  const planned = planEscrowCall(
    deployment,
    info,
    isCharge
      ? { operation: 'charge', ...collected, ...(candidate.charge ?? lowestFee(candidate)), amount }
      : { operation: 'authorize', ...collected },
  )
  const judged: JudgedCall = {
    operation: isCharge ? 'charge' : 'authorize',
    escrow,
    hash,
    operator,
    topic: planned.topic,
    terms: planned.terms,
    amount,
    capturable: 0n,
    refundable: 0n,
  }
  const isDeployed = wallet.hasCode || wallet.signature.kind !== 'counterfactual'
  const call: SettlementCall = {
    to: planned.to,
    data: planned.data,
    id: formatPaymentId(network.network, escrow, hash),
    payer: info.payer,
    payTo: info.receiver,
    amount,
    gasCap: isDeployed ? (wallet.hasCode ? walletGasCap : keyGasCap) : deploymentGasCap,
    reorgGas: isDeployed ? collectReorgGas : deploymentGasCap,
    deadline: authorization.validBefore,
    // The escrow takes the call from the operator alone.
    batchedBy: null,
    sender: operator,
    runsPayerCode: wallet.hasCode || !isDeployed,
    reads: [
      { to: escrow, data: encodeStateCall(hash) },
      { to: info.token, data: encodeBalanceCall(info.payer) },
    ],
    probe: null,
    explainRevert: (failure, reads) => explainCollectRevert(failure, reads, authorization.value),
    findContradiction: (reads) => findCollectContradiction(reads, authorization.value),
    isTooEarly: () => false,
    judge: createJudge(rpc, judged),
  }
  return {
    candidate: {
      ...candidate,
      recheck: (occasion) => {
        const again = { ...candidate, ...occasion }
        return (runRules(termsRules, again) ?? runRules(hashRules, again))?.reason ?? null
      },
    },
    call,
    judged,
    isWalletAsked,
    authorizedAmount: authorization.value,
    received: isCharge
      ? subtractFee(amount, { fee: candidate.charge?.fee ?? 0n, version: deployment.version })
      : 0n,
  }
}
