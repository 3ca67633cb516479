import { type Address, keccak256 } from 'viem'
import type { PlannedPayment, SchemeBody, SchemeHarness } from '../../../contracts/schemeContract.js'
import { describeSchemeContract } from '../../../contracts/schemeContract.js'
import { randomAddress } from '../../../support/evm/authorization.js'
import type { LocalChain } from '../../../support/evm/localChain.js'
import { toParityV } from '../../../support/evm/signatureForms.js'
import type { UptoPaymentBody } from '../../../support/evm/uptoPermit2.js'
import { createEoa } from '../../../support/evm/wallets.js'
import { createMemoryLanes } from '../../../support/memoryLanes.js'
import { openScene } from '../scene.js'
import { deployRouter, openUpto, planCharge } from './uptoScene.js'

const upperCase = (hex: string): string => `0x${hex.slice(2).toUpperCase()}`

/** The same permit: other letter case of addresses, reversed keys, a leading zero, v as 0 or 1. */
const respell = ({ paymentPayload, paymentRequirements }: UptoPaymentBody): SchemeBody => {
  const { accepted, payload, ...rest } = paymentPayload
  const { from, permitted, spender, witness, deadline, ...values } = payload.permit2Authorization
  const permit2Authorization = {
    witness: {
      validAfter: witness.validAfter,
      facilitator: upperCase(witness.facilitator),
      to: upperCase(witness.to),
    },
    deadline: `0${deadline}`,
    ...values,
    spender: spender.toLowerCase(),
    permitted: { amount: permitted.amount, token: upperCase(permitted.token) },
    from: from.toLowerCase(),
  }
  return {
    paymentPayload: {
      ...rest,
      payload: { permit2Authorization, signature: toParityV(payload.signature) },
      accepted,
    },
    paymentRequirements: { ...paymentRequirements, asset: upperCase(paymentRequirements.asset) },
  }
}

const plan = async (chain: LocalChain, facilitator: Address): Promise<PlannedPayment> => {
  const { body, payTo } = await planCharge(chain, { facilitator })
  return { body, respelled: respell(body), countReceived: () => chain.balanceOf(payTo) }
}

const openHarness = async (hasRouter: boolean): Promise<SchemeHarness> => {
  const scene = await openScene()
  const { chain } = scene
  const router = hasRouter ? await deployRouter(scene) : null
  const proxy = await scene.openProxy()
  const lanes = createMemoryLanes()
  const open = await openUpto(scene, { router, url: proxy.url, wrapLanes: () => lanes, rpcTimeoutMs: 1_000 })
  const facilitator = router ?? open.signers[0]?.address
  if (facilitator === undefined) throw new Error('There is no signer')
  return {
    scheme: open.scheme,
    otherNetwork: 'eip155:8453',
    plan: () => plan(chain, facilitator),
    openRecorder: lanes.openRecorder,
    createUnsentTransaction: async () => {
      const bytes = await createEoa().account.signTransaction({
        chainId: chain.chainId,
        nonce: 0,
        to: randomAddress(),
        gas: 21_000n,
        maxFeePerGas: 2_000_000_000n,
        maxPriorityFeePerGas: 1n,
      })
      return { transaction: keccak256(bytes), bytes }
    },
    listSent: () =>
      proxy.calls
        .filter(({ method }) => method === 'eth_sendRawTransaction')
        .map(({ params }) => String(params[0])),
    dropSends: () => proxy.setFault('eth_sendRawTransaction', { kind: 'hang' }),
    dropSendResponses: () =>
      proxy.setFault('eth_sendRawTransaction', { kind: 'loseAnswer', connection: 'silent' }),
    dropAllResponses: () => proxy.setFault('*', { kind: 'hang' }),
    restore: () => proxy.clearFaults(),
    close: async () => {
      await open.close()
      await scene.close()
    },
  }
}

const settlesPart = { settlesPart: true }

describeSchemeContract(
  'upto on EVM by Permit2, with an account as facilitator',
  () => openHarness(false),
  settlesPart,
)
describeSchemeContract(
  'upto on EVM by Permit2, with the router as facilitator',
  () => openHarness(true),
  settlesPart,
)
