import { encodeFunctionData, type Hex } from 'viem'
import type { Rpc } from '../../rpc/rpc.js'
import { type DeployedSignature, encodeSignature } from '../../signatures/signature.js'
import { findCreditMismatch, planCreditProbe } from '../../tokens/erc20.js'
import type { SettlementCall } from '../../transactions/settlementCall.js'
import {
  decodePermitState,
  explainRevert,
  findContradiction,
  gasCapOf,
  isNotYetValid,
  permit2ReorgGas,
  planStateReads,
} from '../call.js'
import type { TokenPermit } from '../gasSponsoring.js'
import { formatPermitId, type Permit } from '../payload.js'
import type { Candidate, PermitSignatures } from '../prepare.js'
import { createJudge } from './judge.js'
import { exactProxyAbi, exactProxyAddress } from './payload.js'

interface PermitCallContext {
  readonly rpc: Rpc
  readonly network: string
  /** Executes payments together; null on networks without it. */
  readonly router: Hex | null
}

export const createPermitCall = (
  { rpc, network, router }: PermitCallContext,
  { permit, token, payment }: Pick<Candidate, 'permit' | 'token' | 'payment'>,
  { signature, tokenPermit }: PermitSignatures,
): SettlementCall => {
  const { from, to, amount, deadline } = permit
  const call = { to: exactProxyAddress, data: encodeSettle(permit, signature, tokenPermit) } as const
  const id = formatPermitId(network, permit)
  const needs = { amount, payment, tokenPermit }
  return {
    to: call.to,
    data: call.data,
    id,
    payer: from,
    payTo: to,
    amount,
    gasCap: gasCapOf(signature),
    reorgGas: permit2ReorgGas,
    deadline: deadline + 1n,
    // The proxy takes any caller, but no event names the nonce: only the router's own event proves one of many calls.
    batchedBy: token.isListed && signature.kind === 'ecdsa' ? router : null,
    runsPayerCode: signature.kind !== 'ecdsa',
    sender: null,
    reads: planStateReads(permit),
    probe: token.isListed ? null : planCreditProbe(token.address, to, call),
    explainRevert: (failure, reads) => explainRevert(failure, decodePermitState(reads, permit), needs),
    findContradiction: (reads, probe) =>
      findContradiction(decodePermitState(reads, permit), needs) ?? findCreditMismatch(probe, amount),
    isTooEarly: isNotYetValid,
    judge: createJudge(rpc, { id, permit, router }),
  }
}

/** Calldata of the proxy's `settle`, or of `settleWithPermit`. */
export const encodeSettle = (
  { from, token, amount, nonce, deadline, to, validAfter }: Permit,
  signature: DeployedSignature,
  tokenPermit: TokenPermit | null = null,
): Hex => {
  const permit = { permitted: { token, amount }, nonce, deadline }
  const args = [permit, from, { to, validAfter }, encodeSignature(signature)] as const
  return tokenPermit === null
    ? encodeFunctionData({ abi: exactProxyAbi, functionName: 'settle', args })
    : encodeFunctionData({
        abi: exactProxyAbi,
        functionName: 'settleWithPermit',
        args: [tokenPermit, ...args],
      })
}
