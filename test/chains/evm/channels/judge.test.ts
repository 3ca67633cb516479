import { expect, it } from 'vitest'
import { encodeClaim, hashChannel, settlementAddress } from '../../../../src/chains/evm/channels/contract.js'
import { createRequestJudge } from '../../../../src/chains/evm/channels/judge.js'
import type { Rpc } from '../../../../src/chains/evm/rpc/rpc.js'
import { randomHex } from '../../../support/evm/authorization.js'
import { channelConfig } from '../../../support/evm/channels.js'

const chainId = 84_532
const network = { network: 'eip155:84532', chainId }
const unasked = new Proxy({}, { get: () => expect.fail('No node is asked') })

const claimOf = (totalClaimed: bigint) => {
  const config = channelConfig({ salt: randomHex(32) })
  const row = { config, maxClaimable: 9_000n, signature: randomHex(65), totalClaimed }
  return { row, judged: { channelId: hashChannel(chainId, config), total: totalClaimed } }
}

it('a claim is distinguished from the other claims of its transaction by its channels and totals', () => {
  const [own, second, other] = [claimOf(1_000n), claimOf(2_000n), claimOf(1_000n)]
  const request = { type: 'claim' as const, rows: [own.judged, second.judged] }
  const judge = createRequestJudge({ rpc: unasked as Rpc, network, channelLedger: null }, request)
  const isOwn = (...rows: readonly (typeof own.row)[]) =>
    judge.isOwnCall({ to: settlementAddress, data: encodeClaim(rows, randomHex(65)) })
  expect(isOwn(second.row, other.row, own.row)).toBe(true)
  expect(isOwn(own.row, other.row)).toBe(false)
  expect(isOwn(own.row, { ...second.row, totalClaimed: 2_001n })).toBe(false)
})
