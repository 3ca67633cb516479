import { encodeFunctionData } from 'viem'
import { describe, expect, it } from 'vitest'
import { findRecipientRouter } from '../../../../src/chains/evm/contracts/routers.js'
import { uptoRouterAbi } from '../../../../src/chains/evm/contracts/uptoRouterAbi.js'
import { createRpc } from '../../../../src/chains/evm/rpc/rpc.js'
import { createJudge } from '../../../../src/chains/evm/upto/judge.js'
import { silentLogger } from '../../../../src/platform/logger.js'
import { randomAddress, randomHex } from '../../../support/evm/authorization.js'

const rpc = createRpc('eip155:84532', [], silentLogger)
const [router, token, owner, to] = [randomAddress(), randomAddress(), randomAddress(), randomAddress()]
const payment = {
  ...{ token, owner, to, maxAmount: 5n, amount: 4n, deadline: 9n, permitNonce: 1n },
  paymentNonce: randomHex(32),
  isBound: true,
  signature: randomHex(65),
}
const callOf = (changes: Partial<typeof payment> = {}) => ({
  to: router,
  data: encodeFunctionData({
    abi: uptoRouterAbi,
    functionName: 'settle',
    args: [{ ...payment, ...changes }],
  }),
})
const judge = createJudge(rpc, {
  router,
  asset: token,
  owner,
  spender: findRecipientRouter(router, to),
  nonce: payment.permitNonce,
  payTo: to,
  amount: payment.amount,
})

describe('a call of a batch', () => {
  it('is the own one with the same permit and amount', () => {
    expect(judge.isOwnCall(callOf())).toBe(true)
    expect(judge.isOwnCall(callOf({ paymentNonce: randomHex(32), signature: randomHex(65) }))).toBe(true)
  })

  it.each([
    ['another token', { token: randomAddress() }],
    ['another owner', { owner: randomAddress() }],
    ['another recipient', { to: randomAddress() }],
    ['another amount', { amount: 3n }],
    ['another nonce', { permitNonce: 2n }],
    ['a permit for the shared router', { isBound: false }],
  ])('is not the own one with %s', (_, changes) => {
    expect(judge.isOwnCall(callOf(changes))).toBe(false)
  })
})
