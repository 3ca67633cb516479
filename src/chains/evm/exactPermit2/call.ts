import { encodeFunctionData, type Hex } from 'viem'
import { decodeCredit, planCreditProbe } from '../exact/authorizationState.js'
import type { Rpc } from '../rpc/rpc.js'
import type { PayerSignature } from '../signatures/signature.js'
import type { Token } from '../tokens/tokenRegistry.js'
import type { SettlementCall } from '../transactions/settlementCall.js'
import { exactProxyAbi, exactProxyAddress } from './contracts.js'
import { explainRevert, findContradiction, isNotYetValid } from './explainRevert.js'
import { createJudge } from './judge.js'
import { formatPermitId, type Permit } from './payload.js'
import { decodePermitState, planStateReads } from './permitState.js'

/** In the form that Permit2 takes. */
export type PermitSignature = Exclude<PayerSignature, { readonly kind: 'counterfactual' }>

/*
 * About 130k gas for a first transfer to a new recipient by ECDSA; wallet contracts add their own check. The same caps
 * as for EIP-3009, so that the balance that a signer needs does not depend on the method. Unused gas is not paid.
 */
const ecdsaGasCap = 500_000n
const contractGasCap = 1_000_000n

export const createPermitCall = (
  { rpc, network }: { readonly rpc: Rpc; readonly network: string },
  { permit, token }: { readonly permit: Permit; readonly token: Token },
  signature: PermitSignature,
): SettlementCall => {
  const { from, to, amount, deadline } = permit
  const call = { to: exactProxyAddress, data: encodeSettle(permit, signature) } as const
  return {
    ...call,
    id: formatPermitId(network, permit),
    payer: from,
    payTo: to,
    amount,
    gasCap: signature.kind === 'ecdsa' ? ecdsaGasCap : contractGasCap,
    deadline: deadline + 1n,
    // The proxy takes any caller, but no event names the nonce: of two equal payments of one payer in a batch, the
    // receipt could not prove which one was executed.
    batchedBy: null,
    sender: null,
    reads: planStateReads(permit),
    probe: token.isListed ? null : planCreditProbe(token.address, to, call),
    explainRevert: (failure, reads) => explainRevert(failure, decodePermitState(reads, permit), permit),
    findContradiction: (reads, probe) => {
      const contradiction = findContradiction(decodePermitState(reads, permit), permit)
      const credit = probe === null ? null : decodeCredit(probe)
      if (contradiction !== null || credit === null || credit === amount) return contradiction
      return { reason: 'invalid_exact_evm_transfer_event_mismatch' }
    },
    isTooEarly: isNotYetValid,
    judge: createJudge(rpc, permit),
  }
}

/** Calldata of the proxy's `settle`; signatures by a key have 65 bytes with v as 27 or 28. */
export const encodeSettle = (
  { from, token, amount, nonce, deadline, to, validAfter }: Permit,
  signature: PermitSignature,
): Hex =>
  encodeFunctionData({
    abi: exactProxyAbi,
    functionName: 'settle',
    args: [
      { permitted: { token, amount }, nonce, deadline },
      from,
      { to, validAfter },
      signature.kind === 'ecdsa'
        ? `0x${signature.r.slice(2)}${signature.s.slice(2)}${signature.v.toString(16)}`
        : signature.bytes,
    ],
  })
