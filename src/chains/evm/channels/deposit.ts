import type { SignedRefund } from '../../../ports/channelCustody.js'
import type { Payment } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import type { Trace } from '../../../protocol/rules/rules.js'
import { isSameAddress } from '../abi/address.js'
import { larger, readWord } from '../abi/words.js'
import { structureRules } from '../explanations.js'
import { readOccasion, toRefusal } from '../paymentMethod.js'
import { encodeAllowanceCall, encodeBitmapCall, hasNonce } from '../permit2/call.js'
import { explainMissingAllowance, readSponsoring, type TokenPermit } from '../permit2/gasSponsoring.js'
import { permit2Address } from '../permit2/payload.js'
import { readSignature } from '../signatures/signature.js'
import { encodeStateCall } from '../tokens/authorizations.js'
import { encodeBalanceCall } from '../tokens/erc20.js'
import type { Token } from '../tokens/tokenRegistry.js'
import type { ContractCall, RevertReason } from '../transactions/settlementCall.js'
import { readAll } from '../transactions/simulation/simulate.js'
import { createKeepVoucher } from './care.js'
import { describeState, findChannelProblem, findVoucherProblem, unread } from './checks.js'
import { collectors, hashDepositNonce, hashVoucher } from './contract.js'
import { createDepositCall, type DepositWallet, type Pull, toJudgedDeposit } from './depositCall.js'
import { describeDeposit } from './depositJudge.js'
import type { DepositProof } from './payload.js'
import { type ChannelDependencies, type Occasion, type Prepare, readListed } from './prepared.js'
import { findVoucherSigner, hashDepositPermit, hashReceive } from './signatures.js'
import { type ChannelState, decodeState, planStateRead } from './states.js'

/* A deposit opens or fills a channel. Its voucher pays for the first request. */

const names = [
  ...structureRules,
  'channel_terms',
  'transfer_method',
  'deposit_terms',
  'signature',
  'wallet',
  'token_permit',
  'voucher_signature',
  'channel_state',
] as const

/** By the method that the requirements choose, else the form. */
export const choosePull = (proof: DepositProof, { requirements }: Payment): Pull | RevertReason => {
  const required = requirements.extra.assetTransferMethod
  const method = required ?? (proof.permit2 === null ? 'eip3009' : 'permit2')
  if (method === 'permit2') {
    return proof.permit2 ?? { reason: 'invalid_batch_settlement_evm_permit2_authorization_required' }
  }
  if (method !== 'eip3009') return { reason: 'unsupported_asset_transfer_method' }
  return proof.eip3009 ?? { reason: 'invalid_batch_settlement_evm_erc3009_authorization_required' }
}

// The contracts compare with block time, which may be ahead.
const leastMarginSeconds = 6n

const findTimeProblem = (pull: Pull, { nowSeconds, marginSeconds }: Occasion): Reason | null => {
  const earliest = nowSeconds + larger(leastMarginSeconds, marginSeconds)
  if (pull.method === 'permit2') {
    return pull.deadline < earliest ? 'invalid_batch_settlement_evm_permit2_deadline_expired' : null
  }
  if (pull.validBefore < earliest) {
    return 'invalid_batch_settlement_evm_payload_authorization_valid_before'
  }
  return pull.validAfter > nowSeconds
    ? 'invalid_batch_settlement_evm_payload_authorization_valid_after'
    : null
}

const findPullProblem = (
  pull: Pull,
  { config, amount, channelId }: DepositProof,
  { name, version }: Payment['requirements']['extra'],
  occasion: Occasion,
): Reason | null => {
  if (pull.method === 'eip3009') {
    const isNamed = typeof name === 'string' && typeof version === 'string' && name !== '' && version !== ''
    if (!isNamed) return 'invalid_batch_settlement_evm_missing_eip712_domain'
    return findTimeProblem(pull, occasion)
  }
  if (!isSameAddress(pull.from, config.payer)) return 'invalid_batch_settlement_evm_permit2_invalid_signature'
  if (!isSameAddress(pull.spender, collectors.permit2)) {
    return 'invalid_batch_settlement_evm_permit2_invalid_spender'
  }
  if (!isSameAddress(pull.token, config.token)) return 'invalid_batch_settlement_evm_token_mismatch'
  if (pull.amount !== amount) return 'invalid_batch_settlement_evm_permit2_amount_mismatch'
  if (pull.channelId !== channelId) return 'invalid_batch_settlement_evm_channel_id_mismatch'
  return findTimeProblem(pull, occasion)
}

/** The reasons of the EIP-2612 extension in other schemes, and those of this one. */
const permitReasons: Partial<Record<Reason, Reason>> = {
  invalid_eip2612_extension_format: 'invalid_batch_settlement_evm_eip2612_invalid_format',
  eip2612_from_mismatch: 'invalid_batch_settlement_evm_eip2612_owner_mismatch',
  eip2612_asset_mismatch: 'invalid_batch_settlement_evm_eip2612_asset_mismatch',
  eip2612_spender_not_permit2: 'invalid_batch_settlement_evm_eip2612_spender_mismatch',
  permit2_2612_amount_mismatch: 'invalid_batch_settlement_evm_eip2612_amount_mismatch',
  eip2612_deadline_expired: 'invalid_batch_settlement_evm_eip2612_deadline_expired',
  invalid_permit_signature: 'invalid_batch_settlement_evm_eip2612_invalid_signature',
  permit2_allowance_required: 'invalid_batch_settlement_evm_permit2_allowance_required',
  erc20_approval_not_sponsored: 'invalid_batch_settlement_evm_erc20_approval_unavailable',
}

const ofScheme = ({ reason }: RevertReason): RevertReason => ({ reason: permitReasons[reason] ?? reason })

export const createPrepareDeposit = (dependencies: ChannelDependencies): Prepare => {
  const { family, network, rpc, clock, contractReader, custody } = dependencies
  const { chainId } = network
  const keepVoucher = createKeepVoucher(dependencies)

  /** Tokens and Permit2 ask whatever has code (EIP-1271), also where a key of it signed (EIP-7702). */
  const readWallet = async (
    pull: Pull,
    proof: DepositProof,
    { name, version }: Payment['requirements']['extra'],
  ): Promise<DepositWallet | RevertReason> => {
    const { payer } = proof.config
    const isReceive = pull.method === 'eip3009'
    const digest = isReceive
      ? hashReceive(proof, pull, { chainId, name: String(name), version: String(version) })
      : hashDepositPermit(pull, chainId)
    const [signature, code] = await Promise.all([
      readSignature(pull.signature, digest, payer),
      rpc.getCode(payer),
    ])
    const hasCode = code !== '0x'
    const unsigned: RevertReason = {
      reason: isReceive
        ? 'invalid_batch_settlement_evm_receive_authorization_signature'
        : 'invalid_batch_settlement_evm_permit2_invalid_signature',
    }
    if (signature === null || (signature.kind === 'contract' && !hasCode)) return unsigned
    if (signature.kind === 'counterfactual' && !hasCode) {
      const isListed = family.smartWalletFactories.some((each) => isSameAddress(each, signature.factory))
      if (!isReceive) return unsigned
      if (!family.deploysSmartWallets || !isListed) {
        return { reason: 'invalid_batch_settlement_evm_eip6492_factory_not_allowed' }
      }
    }
    return { signature, hasCode }
  }

  const readTokenPermit = async (
    pull: Pull,
    payment: Payment,
    { token, occasion }: { readonly token: Token; readonly occasion: Occasion },
  ): Promise<TokenPermit | null | RevertReason> => {
    if (pull.method === 'eip3009') return null
    const permit = await readSponsoring({ payment, permit: pull, token, ...occasion }, chainId)
    return permit !== null && 'reason' in permit ? ofScheme(permit) : permit
  }

  return async (payment, phase, trace) => {
    trace?.expect(names)
    const reading = await readListed(dependencies, payment, ['deposit'], trace)
    if ('refused' in reading) return reading
    const { proof, token } = reading.prepared
    const { config, channelId, maxClaimable } = proof
    const refuse = (failure: RevertReason) => ({ refused: toRefusal(config.payer, failure) })
    const { requirements } = payment
    const occasion = readOccasion(clock, phase)

    const { caller } = phase
    const foreign =
      findChannelProblem(proof, requirements, chainId) ?? (await custody.findProblem(proof, caller))
    trace?.note('channel_terms', foreign)
    if (foreign !== null) return refuse(foreign)
    const pull = choosePull(proof, payment)
    trace?.note('transfer_method', 'reason' in pull ? pull : null)
    if ('reason' in pull) return refuse(pull)
    const broken = findPullProblem(pull, proof, requirements.extra, occasion)
    trace?.note('deposit_terms', broken)
    if (broken !== null) return refuse({ reason: broken })
    const wallet = await readWallet(pull, proof, requirements.extra)
    if (trace !== undefined) noteWallet(wallet, trace)
    if ('reason' in wallet) return refuse(wallet)
    const tokenPermit = await readTokenPermit(pull, payment, { token, occasion })
    const isMalformed = tokenPermit !== null && 'reason' in tokenPermit
    trace?.note('token_permit', isMalformed ? tokenPermit : null)
    if (isMalformed) return refuse(tokenPermit)

    const { requester } = phase
    const digest = hashVoucher(chainId, channelId, maxClaimable)
    const voucher = { digest, signature: proof.signature }
    const signer = await findVoucherSigner({ rpc, reader: contractReader, requester }, config, voucher)
    trace?.note('voucher_signature', signer === null ? unsignedVoucher : null)
    if (signer === null) return refuse(unsignedVoucher)

    const state = await readState(dependencies, pull, proof)
    const unbacked =
      'reason' in state
        ? state
        : findStateProblem(state, {
            proof,
            price: requirements.amount,
            payment,
            tokenPermit,
            signedRefund: await custody.findRefund(proof),
          })
    trace?.note('channel_state', unbacked)
    if (unbacked !== null) return refuse(unbacked)
    if ('reason' in state) return refuse(state)
    const isFunded = state.channel.balance > 0n
    // Before the server delivers, and before anything is sent; after the simulation, which alone asks wallet contracts.
    const commit = async (): Promise<RevertReason | null> => {
      const taken = await custody.bind(proof, { caller, isFunded })
      // What is only verified may never be deposited. The amount of a settlement is what was charged, not what the client was
      // asked for: the voucher then shows nothing of what was charged before.
      if (taken === null && phase.isForSettle) await keepVoucher(proof, { caller, price: maxClaimable })
      return taken
    }

    const judged = toJudgedDeposit(network.network, proof, pull)
    return {
      prepared: {
        candidate: {
          ...occasion,
          payment,
          token,
          recheck: (again) => findTimeProblem(pull, again),
        },
        call: createDepositCall(rpc, { proof, pull, wallet, tokenPermit, judged }),
        details: describeDeposit(judged),
        isWalletAsked: wallet.hasCode || wallet.signature.kind !== 'ecdsa' || signer === 'contract',
        authorizedAmount: proof.amount,
        received: 0n,
        snapshot: describeState(channelId, state.channel),
        commit,
      },
    }
  }
}

const unsignedVoucher = { reason: 'invalid_batch_settlement_evm_voucher_signature' } as const

const noteWallet = (wallet: DepositWallet | RevertReason, trace: Trace): void => {
  const isFactory =
    'reason' in wallet && wallet.reason === 'invalid_batch_settlement_evm_eip6492_factory_not_allowed'
  trace.note('signature', 'reason' in wallet && !isFactory ? wallet : null)
  if ('reason' in wallet && !isFactory) trace.skip('wallet', 'signature')
  else trace.note('wallet', 'reason' in wallet ? wallet : null)
}

interface DepositState {
  readonly channel: ChannelState
  readonly balance: bigint
  readonly isUsed: boolean
  /** Null where Permit2 takes nothing. */
  readonly allowance: bigint | null
}

/** What the settlement, the token and Permit2 know. Throws if no node answers. */
const readState = async (
  { rpc }: Pick<ChannelDependencies, 'rpc'>,
  pull: Pull,
  { config, channelId }: DepositProof,
): Promise<DepositState | RevertReason> => {
  const { payer, token } = config
  const uses: readonly ContractCall[] =
    pull.method === 'eip3009'
      ? [{ to: token, data: encodeStateCall(payer, hashDepositNonce(channelId, pull.salt)) }]
      : [
          { to: permit2Address, data: encodeBitmapCall({ from: payer, nonce: pull.nonce }) },
          { to: token, data: encodeAllowanceCall(payer) },
        ]
  const reads = [planStateRead(channelId), { to: token, data: encodeBalanceCall(payer) }, ...uses]
  const [answer, balanceAnswer, useAnswer, allowanceAnswer] = await readAll(rpc, { reads })
  const [channel, balance, use] = [decodeState(answer), readWord(balanceAnswer), readWord(useAnswer)]
  if (channel === null || balance === null || use === null) return unread
  if (pull.method === 'eip3009') return { channel, balance, isUsed: use !== 0n, allowance: null }
  const allowance = readWord(allowanceAnswer)
  return allowance === null ? unread : { channel, balance, isUsed: hasNonce(use, pull.nonce), allowance }
}

const findStateProblem = (
  { channel, balance, isUsed, allowance }: DepositState,
  asked: {
    readonly proof: DepositProof
    readonly price: bigint
    readonly payment: Payment
    readonly tokenPermit: TokenPermit | null
    readonly signedRefund: SignedRefund | null
  },
): RevertReason | null => {
  const { amount, maxClaimable } = asked.proof
  const { price, signedRefund } = asked
  if (isUsed) return { reason: 'invalid_batch_settlement_evm_deposit_already_used' }
  const isShort = allowance !== null && allowance < amount
  if (isShort && asked.tokenPermit === null) return ofScheme(explainMissingAllowance(asked.payment, null))
  if (balance < amount) return { reason: 'invalid_batch_settlement_evm_insufficient_balance' }
  return findVoucherProblem(maxClaimable, channel, { deposit: amount, price, signedRefund })
}
