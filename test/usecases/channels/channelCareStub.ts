import type { ChannelCare } from '../../../src/schemes/channelCare.js'
import { plainPayment } from '../../support/plainPayment.js'

/** Of channels that are withdrawn and of which nothing is claimed. */
export const channelCareStub: ChannelCare = {
  rules: { claimWorth: 20n, claimAfterMs: 1, sweepAmount: 1n, sweepAfterMs: 1 },
  maxRows: 10,
  canSign: () => true,
  readChannels: async (channelIds) =>
    channelIds.map((channelId) => ({
      channelId,
      balance: 10_000n,
      totalClaimed: 0n,
      withdrawal: 6_000n,
      withdrawRequestedAt: 1,
    })),
  readHead: async () => null,
  listAnnounced: async () => null,
  readUnswept: async () => [],
  findRowCost: () => null,
  listRowCosts: () => [],
  isVoidable: () => false,
  isRowFault: () => false,
  writeClaim: () => plainPayment(),
  writeSweep: () => {
    throw new Error('Nothing is paid out')
  },
}
