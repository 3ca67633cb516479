import { encodeFunctionData } from 'viem'
import { uptoRouterAbi } from '../contracts/uptoRouterAbi.js'
import type { Rpc } from '../rpc/rpc.js'
import { type DeployedSignature, encodeSignature } from '../signatures/signature.js'
import type { SettlementCall } from '../transactions/settlementCall.js'
import type { Candidate } from './checks.js'
import { explainRevert, findContradiction } from './explainRevert.js'
import { createJudge } from './judge.js'
import { formatPermitId } from './payload.js'
import { decodePermitState, planStateReads } from './permitState.js'

/*
 * Permit and transfer cost FiatToken about 165k gas, 70k more when they deploy the recipient's router; wallet contracts add
 * their own check. Unused gas is not paid.
 */
const ecdsaGasCap = 600_000n
const contractGasCap = 1_000_000n
// The recipient's router, and four slots: its balance, the permit's nonce and allowance, the router's own nonce.
const reorgGas = 150_000n

export const createUptoCall = (
  { rpc, network }: { readonly rpc: Rpc; readonly network: string },
  candidate: Candidate,
  { amount, signature }: { readonly amount: bigint; readonly signature: DeployedSignature },
): SettlementCall => {
  const { permit, token, payTo, paymentNonce, routers, payment } = candidate
  // A charge of 0 costs gas too: who could not pay the maximum must not make the facilitator pay it.
  const needed = amount > 0n ? amount : payment.requirements.amount
  const { owner, spender, value, deadline, nonce } = permit
  const asset = token.address
  const isEcdsa = signature.kind === 'ecdsa'
  return {
    to: routers.shared,
    data: encodeFunctionData({
      abi: uptoRouterAbi,
      functionName: 'settle',
      args: [
        {
          token: asset,
          owner,
          to: payTo,
          maxAmount: value,
          amount,
          deadline,
          permitNonce: nonce,
          paymentNonce,
          isBound: spender !== routers.shared,
          signature: encodeSignature(signature),
        },
      ],
    }),
    id: formatPermitId(network, asset, permit),
    payer: owner,
    payTo,
    amount,
    gasCap: isEcdsa ? ecdsaGasCap : contractGasCap,
    reorgGas,
    deadline: deadline + 1n,
    // The router takes calls from our accounts and from itself.
    batchedBy: isEcdsa ? routers.shared : null,
    runsPayerCode: !isEcdsa,
    sender: null,
    reads: planStateReads(asset, permit),
    probe: null,
    explainRevert: (failure, reads) => explainRevert(failure, decodePermitState(reads), { permit, amount }),
    findContradiction: (reads) => findContradiction(decodePermitState(reads), { permit, amount, needed }),
    isTooEarly: () => false,
    judge: createJudge(rpc, { router: routers.shared, asset, owner, spender, nonce, payTo, amount }),
  }
}
