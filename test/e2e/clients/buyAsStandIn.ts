import { settleResult, verifyResult } from '../../../src/protocol/results.js'
import type { TestService } from '../../support/service.js'
import { type T402Client, type T402Requirements, writeT402Request } from '../../support/t402/client.js'
import { createT402TonClient } from '../../support/t402/tonClient.js'
import { createT402TronClient } from '../../support/t402/tronClient.js'
import type { TonChain } from '../../support/ton/tonChain.js'
import { randomAddress } from '../../support/ton/wallets.js'
import { createTronKey } from '../../support/tron/keys.js'
import type { TronChain } from '../../support/tron/tronChain.js'

export type StandIn = (typeof standIns)[number]

/** Clients that were not found on npm: stand-ins of `test/support/t402` send exactly their published form. */
export const standIns = [
  { client: '@t402/ton', family: 'TON', signer: 'external', form: 'an external message' },
  { client: '@t402/ton', family: 'TON', signer: 'body', form: 'a signed body' },
  { client: '@t402/tron', family: 'TRON', signer: 'hex', form: 'a transaction in hex' },
  { client: '@t402/tron', family: 'TRON', signer: 'json', form: 'a transaction as JSON text' },
  { client: '@t402/tron', family: 'TRON', signer: 'object', form: 'a transaction as an object' },
] as const

interface StandInScene {
  readonly ton: TonChain
  readonly tron: TronChain
  readonly tronToken: string
  readonly service: TestService
}

interface Plan {
  readonly client: T402Client
  readonly requirements: T402Requirements
  countReceived(): Promise<bigint>
}

const amount = 10_000n

/** `pays`, or what went wrong. */
export const buyAsStandIn = async (standIn: StandIn, scene: StandInScene): Promise<string> => {
  const { client, requirements, countReceived } = await plan(standIn, scene)
  const body = await writeT402Request(client, requirements)
  const post = async (path: string): Promise<unknown> => {
    const response = await fetch(`${scene.service.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return await response.json()
  }
  const verified = verifyResult.parse(await post('/verify'))
  if (!verified.isValid) return JSON.stringify(verified)
  const settled = settleResult.parse(await post('/settle'))
  if (!settled.success) return JSON.stringify(settled)
  const received = await countReceived()
  return received === amount ? 'pays' : `the payee received ${received} instead of ${amount}`
}

const plan = (standIn: StandIn, scene: StandInScene): Promise<Plan> =>
  standIn.family === 'TON' ? planTon(standIn.signer, scene) : planTron(standIn.signer, scene)

const terms = { scheme: 'exact', amount: amount.toString(), maxTimeoutSeconds: 300, extra: {} }

const planTon = async (signer: 'external' | 'body', { ton }: StandInScene): Promise<Plan> => {
  const wallet = await ton.createPayer({ kind: 'v4r2' })
  const payTo = randomAddress()
  const asset = ton.token.master.toString()
  return {
    client: createT402TonClient({ chain: ton, wallet, signer }),
    requirements: { ...terms, network: 'ton:testnet', asset, payTo: payTo.toString() },
    countReceived: () => ton.token.balanceOf(payTo),
  }
}

const planTron = async (
  signer: 'hex' | 'json' | 'object',
  { tron, tronToken }: StandInScene,
): Promise<Plan> => {
  const payer = createTronKey()
  const payTo = createTronKey().address
  tron.fund(payer.address, 100_000_000)
  await tron.mint(tronToken, payer.address, 25_000n)
  return {
    client: createT402TronClient({ chain: tron, payer, signer }),
    requirements: { ...terms, network: 'tron:nile', asset: tronToken, payTo },
    countReceived: () => tron.balanceOf(tronToken, payTo),
  }
}
