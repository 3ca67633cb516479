import { expect, it } from 'vitest'
import { specificationTiers } from '../../../src/protocol/tiers.js'
import { createAccountUseCases } from '../../../src/usecases/operator/accounts.js'
import { accountOf, createWebhookWorld } from '../webhooks/support.js'

const setup = async ({ isRecorded = true } = {}) => {
  const world = createWebhookWorld()
  await world.set('a')
  const { id } = world.outbox.write('a')
  await world.deliver()
  const recorded: (readonly [string, string])[] = []
  const refuse = async () => {
    throw new Error('Not a part of this test')
  }
  const { redeliver } = createAccountUseCases({
    accounts: { find: async () => accountOf('a'), setTier: refuse, revoke: refuse },
    records: {
      findDeliveryAccount: async () => 'a',
      recordAction: async ({ action }) => {
        recorded.push([action, world.outbox.get(id).state])
        if (!isRecorded) throw new Error('The database does not answer')
      },
      findAccount: refuse,
      searchAccounts: refuse,
      listActions: refuse,
    },
    tiers: specificationTiers,
    redeliver: world.verbs.redeliver,
  })
  return { ...world, id, recorded, redeliver: () => redeliver(id, { by: 'Ada', address: null }) }
}

it('records a redelivery before the delivery changes', async () => {
  const { recorded, redeliver } = await setup()
  expect(await redeliver()).toMatchObject({ status: 'waiting' })
  expect(recorded).toEqual([['delivery.redelivered', 'delivered']])
})

it('sends nothing again that it could not record', async () => {
  const { outbox, id, redeliver } = await setup({ isRecorded: false })
  await expect(redeliver()).rejects.toThrow('The database does not answer')
  expect(outbox.get(id)).toMatchObject({ state: 'delivered' })
})

it('records no redelivery that is refused', async () => {
  const { outbox, recorded, redeliver } = await setup()
  await outbox.setEndpoint('a', null)
  await expect(redeliver()).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  expect(recorded).toEqual([])
})
