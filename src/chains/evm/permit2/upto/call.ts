import { encodeFunctionData, type Hex, toFunctionSelector } from 'viem'
import type { Payment } from '../../../../protocol/payment.js'
import { isSameAddress } from '../../abi/address.js'
import { encodeBytes, numberWord, readWord } from '../../abi/words.js'
import { encodeExecuteOne, planRouterRead } from '../../contracts/routerCalls.js'
import type { Rpc } from '../../rpc/rpc.js'
import { type DeployedSignature, encodeSignature } from '../../signatures/signature.js'
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
import { formatPermitId } from '../payload.js'
import type { Candidate, PermitSignatures } from '../prepare.js'
import { createJudge } from './judge.js'
import { encodeChargeWords, type UptoPermit, uptoProxyAbi, uptoProxyAddress } from './payload.js'

/**
 * The proxy takes the call only from the witness's facilitator: through our router, which any account of ours may call,
 * or from the one account that it names.
 */
export const createChargeCall = (
  { rpc, network, ours }: { readonly rpc: Rpc; readonly network: string; readonly ours: Facilitators },
  { permit, payment }: Pick<Candidate<UptoPermit>, 'permit' | 'payment'>,
  { signature, tokenPermit }: PermitSignatures,
): SettlementCall => {
  const { from, to, deadline } = permit
  const charge = chargeOf(payment)
  const id = formatPermitId(network, permit)
  const facilitator = findFacilitator(permit, ours)
  if (facilitator === null) throw new Error('The permit names another facilitator')
  const router = 'router' in facilitator ? facilitator.router : null
  const direct = { to: uptoProxyAddress, data: encodeCharge(permit, charge, signature, tokenPermit) } as const
  const call = router === null ? direct : { to: router, data: encodeExecuteOne(id, direct) }
  const stateReads = planStateReads(permit)
  const needs = { amount: charge, payment, tokenPermit }

  const hasRouter = (reads: readonly (Hex | null)[]): boolean =>
    router === null || readWord(reads[stateReads.length]) !== null

  return {
    to: call.to,
    data: call.data,
    id,
    payer: from,
    payTo: to,
    amount: charge,
    gasCap: gasCapOf(signature),
    reorgGas: permit2ReorgGas,
    deadline: deadline + 1n,
    batchedBy: signature.kind === 'ecdsa' ? router : null,
    runsPayerCode: signature.kind !== 'ecdsa',
    sender: 'account' in facilitator ? facilitator.account : null,
    reads: [...stateReads, ...(router === null ? [] : [planRouterRead(router, to)])],
    probe: null,
    explainRevert: (failure, reads) =>
      hasRouter(reads)
        ? explainRevert(failure, decodePermitState(reads, permit), needs)
        : { reason: 'router_not_deployed' },
    findContradiction: (reads) =>
      hasRouter(reads)
        ? findContradiction(decodePermitState(reads, permit), needs)
        : { reason: 'router_not_deployed' },
    isTooEarly: isNotYetValid,
    judge: createJudge(rpc, { id, permit, charge, router }),
  }
}

/** Calldata of the proxy's `settle`, or of `settleWithPermit`. */
export const encodeCharge = (
  permit: UptoPermit,
  charge: bigint,
  signature: DeployedSignature,
  tokenPermit: TokenPermit | null = null,
): Hex => {
  const bytes = encodeSignature(signature)
  if (tokenPermit === null) {
    // By hand: the general encoder takes 100 µs, on every verification.
    return `${settleSelector}${encodeChargeWords(permit, charge)}${numberWord(settleHeadBytes)}${encodeBytes(bytes)}`
  }
  const { from, token, amount, nonce, deadline, to, facilitator, validAfter } = permit
  return encodeFunctionData({
    abi: uptoProxyAbi,
    functionName: 'settleWithPermit',
    args: [
      tokenPermit,
      { permitted: { token, amount }, nonce, deadline },
      charge,
      from,
      { to, facilitator, validAfter },
      bytes,
    ],
  })
}

const settleSelector = toFunctionSelector(
  'settle(((address,uint256),uint256,uint256),uint256,address,(address,address,uint256),bytes)',
)
// The words of `encodeChargeWords`, and the offset of the signature.
const settleHeadBytes = 10 * 32

/** Who may call the proxy for us: our accounts, and our router. */
export interface Facilitators {
  readonly facilitators: readonly Hex[]
  /** Null on networks without one. */
  readonly router: Hex | null
}

/** x402 puts the charge in the place of the maximum at settle; `settleAmount` leaves the maximum where it is. */
export const chargeOf = ({ settleAmount, requirements }: Payment): bigint =>
  settleAmount ?? requirements.amount

/** The account or the router that a permit names; null if it is neither. */
export const findFacilitator = (
  { facilitator }: Pick<UptoPermit, 'facilitator'>,
  { facilitators, router }: Facilitators,
): { readonly router: Hex } | { readonly account: Hex } | null => {
  if (router !== null && isSameAddress(facilitator, router)) return { router }
  const account = facilitators.find((each) => isSameAddress(each, facilitator))
  return account === undefined ? null : { account }
}
