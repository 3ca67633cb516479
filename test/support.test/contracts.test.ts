import { readFileSync } from 'node:fs'
import {
  concatHex,
  decodeFunctionData,
  encodeFunctionData,
  type Hex,
  parseAbi,
  parseEventLogs,
  type TransactionReceipt,
} from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { uptoRouterAbi } from '../../src/chains/evm/contracts/uptoRouterAbi.js'
import { getArtifact } from '../support/contracts/artifacts.js'
import {
  compileProduct,
  compileProductContracts,
  digestSources,
  type ProductContract,
} from '../support/contracts/compile.js'
import { randomAddress } from '../support/evm/authorization.js'
import { type LocalChain, startLocalChain, usdcAbi } from '../support/evm/localChain.js'
import { type ExactPaymentBody, exactPayment } from '../support/evm/payment.js'
import { deployTestToken, lies, senderRules, type TestToken } from '../support/evm/testTokens.js'
import { encodeTransfer, type TransferForm } from '../support/evm/transfer.js'
import {
  createEoa,
  createMoodyWallet,
  createSoladyWallet,
  deployWallet,
  getHostileFactory,
  hostileFactoryAbi,
  signTransferAuthorization,
} from '../support/evm/wallets.js'

let chain: LocalChain

beforeAll(async () => {
  chain = await startLocalChain()
})
afterAll(() => chain.stop())

const fundedEoa = async () => {
  const wallet = createEoa()
  await chain.fundGas(wallet.address)
  return wallet
}

const settle = async (
  body: ExactPaymentBody,
  form: TransferForm = 'bytes',
  relayer = createEoa(),
): Promise<TransactionReceipt> => {
  await chain.fundGas(relayer.address)
  return chain.send({ account: relayer.account, gas: 5_000_000n, ...encodeTransfer(body, form) })
}

const paymentOf = async (token: TestToken, amount = 10_000n) => {
  const wallet = createEoa()
  await token.mint(wallet.address, amount)
  const payTo = randomAddress()
  return { payTo, body: await exactPayment({ chain: token, wallet, payTo, amount }) }
}

const transfersOf = ({ logs }: TransactionReceipt) =>
  parseEventLogs({ abi: usdcAbi, eventName: 'Transfer', logs }).map(({ args }) => args)

/** One text for each function, event and error: without the compiler's names of types, and without empty values. */
const listItems = (abi: readonly unknown[]): readonly string[] => {
  const isSaid = ([key, value]: readonly [string, unknown]): boolean =>
    key !== 'internalType' && value !== false && value !== '' && !(Array.isArray(value) && value.length === 0)
  const normalize = (_key: string, value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(
          Object.entries(value)
            .filter(isSaid)
            .sort(([left], [right]) => (left < right ? -1 : 1)),
        )
      : value
  return abi.map((item) => JSON.stringify(item, normalize)).sort()
}

describe('the compiled contracts', () => {
  let product: readonly ProductContract[]

  beforeAll(() => {
    product = compileProduct()
  })

  it('match their sources', () => {
    const written = readFileSync(new URL('../support/contracts/artifacts.sha256', import.meta.url), 'utf8')
    expect(digestSources(), 'artifacts.json is old: npm run contracts').toBe(written)
  })

  it('of the product match their sources', () => {
    const modules = compileProductContracts(product)
    expect(modules.size).toBeGreaterThan(0)
    for (const [path, content] of modules) {
      const written = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
      expect(written === content, `${path} is old: npm run contracts`).toBe(true)
    }
  })

  it('of the product have the ABI that is written by hand', () => {
    const router = product.find(({ name }) => name === 'UptoRouter')
    expect(listItems(uptoRouterAbi)).toEqual(listItems(router?.abi ?? []))
  })
})

describe('UsedNonceSilentToken', () => {
  it('lets a second settlement succeed without a transfer', async () => {
    const token = await deployTestToken(chain, 'UsedNonceSilentToken')
    const { body, payTo } = await paymentOf(token)
    expect(transfersOf(await settle(body))).toHaveLength(1)
    await token.mint(body.paymentPayload.payload.authorization.from, 10_000n)
    const second = await settle(body)
    expect(second.status).toBe('success')
    expect(transfersOf(second)).toHaveLength(0)
    expect(await token.balanceOf(payTo)).toBe(10_000n)
  })
})

describe('FeeOnTransferToken', () => {
  it('credits the recipient with less than the value', async () => {
    const { body, payTo } = await paymentOf(await deployTestToken(chain, 'FeeOnTransferToken'))
    const receipt = await settle(body)
    expect(receipt.status).toBe('success')
    expect(transfersOf(receipt)).toContainEqual(expect.objectContaining({ value: 9_900n }))
    expect(transfersOf(receipt)).not.toContainEqual(expect.objectContaining({ to: payTo, value: 10_000n }))
  })
})

describe('LyingToken', () => {
  it.each([
    ['saysNothing', 0n, []],
    ['saysWrongValue', 5_000n, [5_000n]],
    ['saysWrongRecipient', 0n, [10_000n]],
    ['saysTheTruthFalsely', 0n, [10_000n]],
  ] as const)('succeeds and %s', async (lie, credited, values) => {
    const token = await deployTestToken(chain, 'LyingToken', [lies.indexOf(lie)])
    const { body, payTo } = await paymentOf(token)
    const receipt = await settle(body)
    expect(receipt.status).toBe('success')
    expect(transfersOf(receipt).map(({ value }) => value)).toEqual(values)
    expect(await token.balanceOf(payTo)).toBe(credited)
  })
})

describe('GasBurnerToken', () => {
  it('burns the configured amount of gas', async () => {
    const token = await deployTestToken(chain, 'GasBurnerToken', [0n])
    const modest = await settle((await paymentOf(token)).body)
    await token.write('setGasToBurn', [2_000_000n])
    const greedy = await settle((await paymentOf(token)).body)
    expect(modest.gasUsed).toBeLessThan(200_000n)
    expect(greedy.gasUsed).toBeGreaterThan(2_000_000n)
    expect(greedy.status).toBe('success')
  })
})

describe('SenderDependentToken', () => {
  it('accepts transfers depending on the sender', async () => {
    const known = createEoa()
    const token = await deployTestToken(chain, 'SenderDependentToken', [
      senderRules.indexOf('onlyKnownSender'),
      known.address,
    ])
    const { body } = await paymentOf(token)
    expect((await settle(body)).status).toBe('reverted')
    expect((await settle(body, 'bytes', known)).status).toBe('success')
    await token.write('setRule', [senderRules.indexOf('notKnownSender'), known.address])
    const another = (await paymentOf(token)).body
    expect((await settle(another, 'bytes', known)).status).toBe('reverted')
    expect((await settle(another)).status).toBe('success')
  })

  it('accepts simulations but no transactions', async () => {
    const token = await deployTestToken(chain, 'SenderDependentToken', [
      senderRules.indexOf('onlySimulation'),
      randomAddress(),
    ])
    const { body } = await paymentOf(token)
    await chain.client.call(encodeTransfer(body))
    expect((await settle(body)).status).toBe('reverted')
  })
})

describe('LegacyToken3009', () => {
  it('supports only the form with v, r and s', async () => {
    const token = await deployTestToken(chain, 'LegacyToken3009')
    const { body, payTo } = await paymentOf(token)
    expect((await settle(body)).status).toBe('reverted')
    expect((await settle(body, 'vrs')).status).toBe('success')
    expect(await token.balanceOf(payTo)).toBe(10_000n)
  })
})

describe('No3009Token', () => {
  it('supports neither form', async () => {
    const { body } = await paymentOf(await deployTestToken(chain, 'No3009Token'))
    expect((await settle(body)).status).toBe('reverted')
    expect((await settle(body, 'vrs')).status).toBe('reverted')
  })
})

describe('RouterGatedOnFacilitator', () => {
  it('loses its tokens if the facilitator itself calls the factory named by a payer', async () => {
    const facilitator = await fundedEoa()
    const thief = randomAddress()
    const router = await chain.deploy({
      ...getArtifact('RouterGatedOnFacilitator'),
      args: [facilitator.address],
    })
    await chain.mint(router, 1_000n)
    const data = encodeFunctionData({
      abi: parseAbi(['function sweep(address token, address to, uint256 value)']),
      args: [chain.token.verifyingContract, thief, 1_000n],
    })
    const attack = async (account: typeof facilitator.account) =>
      (await chain.send({ account, to: router, data, gas: 200_000n })).status
    expect(await attack((await fundedEoa()).account)).toBe('reverted')
    expect(await chain.balanceOf(thief)).toBe(0n)
    expect(await attack(facilitator.account)).toBe('success')
    expect(await chain.balanceOf(thief)).toBe(1_000n)
  })
})

describe('HostileFactory', () => {
  const abi = hostileFactoryAbi
  const call = async (data: Hex) => {
    const sender = await fundedEoa()
    const to = await getHostileFactory(chain)
    const receipt = await chain.send({ account: sender.account, to, data, gas: 5_000_000n })
    expect(receipt.status).toBe('success')
    expect(await chain.client.readContract({ address: to, abi, functionName: 'lastCaller' })).toBe(
      sender.address,
    )
    return receipt
  }

  it('records its caller and deploys nothing', async () => {
    await call(encodeFunctionData({ abi, functionName: 'deployNothing' }))
  })

  it('burns gas', async () => {
    const salt = concatHex([randomAddress(), '0x000000000000000000000000'])
    const data = encodeFunctionData({ abi, functionName: 'burnGas', args: [2_000_000n, salt, 0] })
    expect((await call(data)).gasUsed).toBeGreaterThan(2_000_000n)
  })

  it('makes an arbitrary call before it deploys the promised wallet', async () => {
    const wallet = await createMoodyWallet(chain, 'acceptsAll')
    const { args } = decodeFunctionData({ abi, data: wallet.deployment.factoryData })
    if (args?.length !== 2) throw new Error('The factory is not asked to deploy')
    const holder = createEoa()
    await chain.mint(holder.address, 10_000n)
    const { to, data } = encodeTransfer(await exactPayment({ chain, wallet: holder }))
    await call(encodeFunctionData({ abi, functionName: 'callAndDeploy', args: [to, data, ...args] }))
    expect(await chain.balanceOf(holder.address)).toBe(0n)
    expect(await chain.client.getCode({ address: wallet.address })).toBeDefined()
  })

  it('makes no payment if it deploys nothing', async () => {
    const wallet = await createMoodyWallet(chain, 'acceptsAll')
    await chain.mint(wallet.address, 10_000n)
    const factoryData = encodeFunctionData({ abi, functionName: 'deployNothing' })
    const unkept = { ...wallet, deployment: { ...wallet.deployment, factoryData } }
    expect((await settle(await exactPayment({ chain, wallet: unkept }))).status).toBe('reverted')
    expect((await settle(await exactPayment({ chain, wallet }))).status).toBe('success')
  })
})

describe('a wallet that burns gas', () => {
  it('accepts the payment at a high gas cost', async () => {
    const wallet = await deployWallet(chain, await createMoodyWallet(chain, 'burnsGas'))
    await chain.mint(wallet.address, 10_000n)
    const receipt = await settle(await exactPayment({ chain, wallet }))
    expect(receipt.status).toBe('success')
    expect(receipt.gasUsed).toBeGreaterThan(3_000_000n)
  })
})

describe('a Solady wallet', () => {
  it("accepts its owner's plain signature in simulations with gas price 0, but in no transaction", async () => {
    const counterfactual = await createSoladyWallet(chain)
    const wallet = await deployWallet(chain, counterfactual)
    await chain.mint(wallet.address, 10_000n)
    const { authorization } = (await exactPayment({ chain, wallet })).paymentPayload.payload
    const signature = await signTransferAuthorization({
      wallet: counterfactual.owner,
      domain: chain.token,
      authorization,
    })
    const body = await exactPayment({ chain, wallet, authorization, signature })
    await chain.client.call({ ...encodeTransfer(body), gas: 1_000_000_000n })
    expect((await settle(body)).status).toBe('reverted')
  })
})
