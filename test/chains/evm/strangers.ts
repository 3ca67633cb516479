import { encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { expect } from 'vitest'
import { randomAddress } from '../../support/evm/authorization.js'
import { signCancellation } from '../../support/evm/cancelAuthorization.js'
import type { FacilitatorKey } from '../../support/evm/localChain.js'
import { createEoa, type EoaWallet } from '../../support/evm/wallets.js'
import type { Scene, Service } from './scene.js'

/* What accounts other than ours do on the chain, and what that costs us. */

type OnChain = Pick<Scene, 'chain'>

/** A wallet that can pay for gas. */
export const funded = async ({ chain }: OnChain, wallet: EoaWallet = createEoa()): Promise<EoaWallet> => {
  await chain.fundGas(wallet.address)
  return wallet
}

/** A call that succeeds, by an account that nobody knows; returns the transaction hash. */
export const sendAsStranger = async (
  scene: OnChain,
  call: { readonly to: Hex; readonly data: Hex },
): Promise<Hex> => {
  const { account } = await funded(scene)
  const { transactionHash, status } = await scene.chain.send({ account, ...call })
  expect(status).toBe('success')
  return transactionHash
}

/** The payer cancels an authorization of EIP-3009. */
export const cancelAuthorization = async (scene: OnChain, wallet: EoaWallet, nonce: Hex): Promise<void> => {
  await sendAsStranger(scene, await signCancellation(scene.chain.token, wallet, nonce))
}

/** The payer moves a part of its USDC away. */
export const sweep = async (scene: OnChain, wallet: EoaWallet, amount: bigint): Promise<void> => {
  const { account } = await funded(scene, wallet)
  const data = encodeFunctionData({
    abi: erc20Abi,
    functionName: 'transfer',
    args: [randomAddress(), amount],
  })
  const to = scene.chain.token.verifyingContract
  expect((await scene.chain.send({ account, to, data })).status).toBe('success')
}

/** Number of mined transactions of a service. */
export const countSent = async (
  { chain }: OnChain,
  { signers }: { readonly signers: readonly FacilitatorKey[] },
): Promise<number> => {
  const counts = await Promise.all(
    signers.map(({ address }) => chain.client.getTransactionCount({ address })),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Verify and settle refuse with this reason, and nothing is sent. */
export const expectRefused = async (
  scene: OnChain,
  service: Service,
  body: unknown,
  reason: string,
  settling: { readonly settleAmount?: string } = {},
): Promise<void> => {
  const before = await countSent(scene, service)
  expect(await service.verify(body)).toMatchObject({ isValid: false, invalidReason: reason })
  expect(await service.settle({ ...Object(body), ...settling })).toMatchObject({
    success: false,
    errorReason: reason,
    transaction: '',
  })
  expect(await countSent(scene, service)).toBe(before)
}

interface SignedBody {
  readonly paymentPayload: { readonly payload: { readonly signature: Hex } }
}

/** The same payment with another signature. */
export const withSignature = <Body extends SignedBody>(body: Body, change: (signature: Hex) => Hex) => {
  const { payload } = body.paymentPayload
  return {
    ...body,
    paymentPayload: { ...body.paymentPayload, payload: { ...payload, signature: change(payload.signature) } },
  }
}
