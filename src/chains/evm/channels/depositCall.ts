import { encodeAbiParameters, type Hex, parseAbiParameters } from 'viem'
import { encodeDeployingCall, multicallAddress } from '../abi/multicall.js'
import type { TokenPermit } from '../permit2/gasSponsoring.js'
import { formatPermitId } from '../permit2/payload.js'
import type { Rpc } from '../rpc/rpc.js'
import { encodeSignature, type PayerSignature } from '../signatures/signature.js'
import { formatAuthorizationId } from '../tokens/authorizations.js'
import type { SettlementCall } from '../transactions/settlementCall.js'
import { collectors, encodeDeposit, hashDepositNonce, settlementAddress } from './contract.js'
import { createDepositJudge, type JudgedDeposit } from './depositJudge.js'
import type { DepositProof } from './payload.js'
import { explainRevert } from './reverts.js'

/** The authorization by which the collector pulls. */
export type Pull = NonNullable<DepositProof['eip3009'] | DepositProof['permit2']>

/** How the payer signed the deposit. */
export interface DepositWallet {
  readonly signature: PayerSignature
  readonly hasCode: boolean
}

/** By its nonce: the same deposit with another voucher is the same. */
export const toJudgedDeposit = (
  network: string,
  { config, channelId, amount }: DepositProof,
  pull: Pull,
): JudgedDeposit => {
  const { payer, token } = config
  const common = { payer, token, channelId, amount }
  if (pull.method === 'eip3009') {
    const nonce = hashDepositNonce(channelId, pull.salt)
    const id = formatAuthorizationId({ network, asset: token, from: payer, nonce })
    return { id, ...common, use: { method: 'eip3009', nonce } }
  }
  const { nonce, deadline } = pull
  const id = formatPermitId(network, { from: payer, nonce })
  return { id, ...common, use: { method: 'permit2', nonce, deadline } }
}

/*
 * A deposit takes about 112k gas by ERC-3009 and 120k by Permit2; a wallet contract adds its check, and a factory the wallet.
 * The caps are those of `exact`.
 */
const keyGasCap = 500_000n
const walletGasCap = 1_000_000n
const deploymentGasCap = 2_000_000n
const depositReorgGas = 150_000n

interface PlannedDeposit {
  readonly proof: DepositProof
  readonly pull: Pull
  readonly wallet: DepositWallet
  readonly tokenPermit: TokenPermit | null
  readonly judged: JudgedDeposit
}

export const createDepositCall = (rpc: Rpc, planned: PlannedDeposit): SettlementCall => {
  const { proof, pull, wallet, judged } = planned
  const { config, amount } = proof
  const data = encodeDeposit(config, amount, {
    collector: collectors[pull.method],
    collectorData: encodeCollectorData(planned),
  })
  const deployment = wallet.signature.kind === 'counterfactual' && !wallet.hasCode ? wallet.signature : null
  return {
    // A wallet is deployed in the same transaction, by a caller that owns nothing.
    ...(deployment === null
      ? { to: settlementAddress, data }
      : { to: multicallAddress, data: encodeDeployingCall(deployment, { to: settlementAddress, data }) }),
    id: judged.id,
    payer: config.payer,
    payTo: config.receiver,
    amount,
    gasCap: deployment !== null ? deploymentGasCap : wallet.hasCode ? walletGasCap : keyGasCap,
    reorgGas: deployment === null ? depositReorgGas : deploymentGasCap,
    deadline: pull.method === 'eip3009' ? pull.validBefore : pull.deadline + 1n,
    // A deposit that fails must not cost the others of a batch.
    batchedBy: null,
    sender: null,
    runsPayerCode: wallet.hasCode || deployment !== null,
    reads: [],
    probe: null,
    explainRevert: (failure) =>
      explainRevert(failure, {
        // A failed permit is only logged: that Permit2 may take nothing is its consequence.
        fallback:
          planned.tokenPermit?.isProven === false
            ? 'invalid_batch_settlement_evm_eip2612_invalid_signature'
            : 'invalid_batch_settlement_evm_deposit_simulation_failed',
        named: { InvalidNonce: 'invalid_batch_settlement_evm_deposit_already_used' },
      }),
    findContradiction: () => null,
    isTooEarly: () => false,
    judge: createDepositJudge(rpc, judged),
  }
}

/** Tokens get the inner signature, never the ERC-6492 wrapper. */
const bytesOf = (signature: PayerSignature): Hex =>
  signature.kind === 'counterfactual' ? signature.bytes : encodeSignature(signature)

const encodeCollectorData = ({ pull, wallet, tokenPermit }: PlannedDeposit): Hex => {
  const signature = bytesOf(wallet.signature)
  if (pull.method === 'eip3009') {
    const { validAfter, validBefore, salt } = pull
    return encodeAbiParameters(parseAbiParameters('uint256, uint256, uint256, bytes'), [
      validAfter,
      validBefore,
      BigInt(salt),
      signature,
    ])
  }
  const permit2612 =
    tokenPermit === null
      ? '0x'
      : encodeAbiParameters(parseAbiParameters('uint256, uint256, uint8, bytes32, bytes32'), [
          tokenPermit.value,
          tokenPermit.deadline,
          tokenPermit.v,
          tokenPermit.r,
          tokenPermit.s,
        ])
  return encodeAbiParameters(parseAbiParameters('uint256, uint256, bytes, bytes'), [
    pull.nonce,
    pull.deadline,
    signature,
    permit2612,
  ])
}
