import { getAddress } from 'viem'
import { beforeEach, describe, expect, it } from 'vitest'
import { randomAddress } from '../../../support/evm/authorization.js'
import { batchSettlementAddress } from '../../../support/evm/channels.js'
import { deployTestToken, type TestToken } from '../../../support/evm/testTokens.js'
import { countSent } from '../strangers.js'
import { claimedOf, newAccount, useCare } from './careScene.js'
import { type Channel, openChannelOnChain } from './channelScene.js'

/* What a token that an operator has allowed does to one receiver, beside those of other accounts. */

const care = useCare()
const { scene, authorizer, pay, run } = care

// As in the contract.
const moods = ['pays', 'burnsGas', 'burnsGasWhenSent', 'returnsMuch', 'revertsWithMuch'] as const

let token: TestToken
beforeEach(async () => {
  token = await deployTestToken(scene.chain, 'MoodyToken')
  const usdc = scene.chain.token.verifyingContract
  await care.replaceService({
    environment: {
      [`EVM_TOKENS_${scene.chain.chainId}`]: `${usdc},${token.address}`,
    },
  })
})

/** 9,000 are charged for sure. */
const openIn = async (of: 'usdc' | 'token', receiver = getAddress(randomAddress())): Promise<Channel> => {
  const chain = of === 'usdc' ? scene.chain : { ...scene.chain, token: token.token, mint: token.mint }
  const channel = await openChannelOnChain(
    chain,
    { authorizer, payTo: receiver, token: chain.token.verifyingContract },
    100_000n,
  )
  await pay(channel, 10_000n, newAccount())
  return channel
}

const claimAll = async () => {
  await run('claimChannels')
  // What was claimed is seen by the next round.
  await run('claimChannels')
}

const setMood = (receiver: string, mood: (typeof moods)[number]) =>
  token.write('setMood', [receiver, moods.indexOf(mood)])

describe('a payout in a token', () => {
  it.each(['burnsGas', 'burnsGasWhenSent', 'revertsWithMuch'] as const)(
    'that %s for its receiver costs nothing, keeps none of others, and is made once it pays',
    async (mood) => {
      const bad = await openIn('token')
      const [good, other] = [await openIn('token'), await openIn('usdc')]
      await setMood(bad.config.receiver, mood)
      await claimAll()
      expect(await Promise.all([bad, good, other].map(claimedOf))).toEqual([9_000n, 9_000n, 9_000n])
      const claims = await countSent(scene, care.service)
      for (let round = 0; round < 3; round += 1) await run('sweepReceivers')
      expect(await token.balanceOf(good.config.receiver)).toBe(9_000n)
      expect(await scene.chain.balanceOf(other.config.receiver)).toBe(9_000n)
      expect(await token.balanceOf(bad.config.receiver)).toBe(0n)
      expect(await countSent(scene, care.service)).toBe(claims + 2)
      await setMood(bad.config.receiver, 'pays')
      await run('sweepReceivers')
      expect(await token.balanceOf(bad.config.receiver)).toBe(9_000n)
    },
  )

  it('that returns very much is made once, or not at all', async () => {
    const bad = await openIn('token')
    const good = await openIn('token')
    await setMood(bad.config.receiver, 'returnsMuch')
    await claimAll()
    for (let round = 0; round < 3; round += 1) await run('sweepReceivers')
    expect(await token.balanceOf(good.config.receiver)).toBe(9_000n)
    expect([0n, 9_000n]).toContain(await token.balanceOf(bad.config.receiver))
    // One claim, and at most one payout of each receiver.
    expect(await countSent(scene, care.service)).toBeLessThanOrEqual(3)
  })

  it('that rebased the escrow below what it owes is not tried on chain, and those of other tokens are made', async () => {
    const [first, other] = [await openIn('token'), await openIn('usdc')]
    await claimAll()
    const claims = await countSent(scene, care.service)
    await token.write('rebase', [batchSettlementAddress, 8_999n])
    for (let round = 0; round < 3; round += 1) await run('sweepReceivers')
    expect(await scene.chain.balanceOf(other.config.receiver)).toBe(9_000n)
    expect(await countSent(scene, care.service)).toBe(claims + 1)
    await token.write('rebase', [batchSettlementAddress, 100_000n])
    await run('sweepReceivers')
    expect(await token.balanceOf(first.config.receiver)).toBe(9_000n)
  })
})

describe('amounts up to the largest that the contract can hold', () => {
  const most = 2n ** 128n - 1n

  const openMost = async (receiver: `0x${string}`, account: string): Promise<Channel> => {
    const chain = { ...scene.chain, token: token.token, mint: token.mint }
    const channel = await openChannelOnChain(
      chain,
      { authorizer, payTo: receiver, token: token.address },
      most,
    )
    await pay(channel, most, account)
    return channel
  }

  it('are kept, claimed, measured and paid out exactly', async () => {
    const [receiver, account] = [getAddress(randomAddress()), newAccount()]
    const channel = await openMost(receiver, account)
    const kept = await care.service.core.useCases.channels.getChannel(account, {
      network: scene.chain.network,
      channelId: channel.id,
    })
    expect(kept).toMatchObject({ ceiling: `${most}`, charged: `${most - 1_000n}` })
    await run('measureChannels')
    await claimAll()
    expect(await claimedOf(channel)).toBe(most - 1_000n)
    await run('sweepReceivers')
    expect(await token.balanceOf(receiver)).toBe(most - 1_000n)
  })

  it('that together exceed it for one receiver are claimed as far as it can hold, and keep no others back', async () => {
    const [receiver, account] = [getAddress(randomAddress()), newAccount()]
    const channels = [await openMost(receiver, account), await openMost(receiver, account)]
    const other = await openIn('token')
    await run('measureChannels')
    for (let round = 0; round < 6; round += 1) await run('claimChannels')
    expect(await claimedOf(other)).toBe(9_000n)
    const claimed = await Promise.all(channels.map(claimedOf))
    expect([...claimed].sort()).toEqual([0n, most - 1_000n])
    // What the contract refuses costs no gas.
    expect(await countSent(scene, care.service)).toBeLessThanOrEqual(2)
    await run('sweepReceivers')
    expect(await token.balanceOf(receiver)).toBe(most - 1_000n)
  })
})
