import { type Address, type Hex, parseEther } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { batchSettler } from '../../../src/chains/evm/contracts/batchSettler.js'
import {
  createContractPresence,
  type DeployedContract,
  deploymentProxy,
} from '../../../src/chains/evm/contracts/deployedContract.js'
import { locateUptoRouter } from '../../../src/chains/evm/contracts/routers.js'
import { uptoRouterAbi } from '../../../src/chains/evm/contracts/uptoRouterAbi.js'
import { deploy } from '../../../src/chains/evm/deploy.js'
import { isPresent } from '../../../src/chains/evm/rpc/presence.js'
import { readEvmSettings } from '../../../src/chains/evm/settings.js'
import { DeploymentError } from '../../../src/platform/startError.js'
import { callRpc } from '../../support/evm/jsonRpc.js'
import { type LocalChain, startLocalChain } from '../../support/evm/localChain.js'
import { createEoa, type EoaWallet } from '../../support/evm/wallets.js'
import { reservePort } from '../../support/reservePort.js'
import { patientTimeoutMs } from '../../support/rpcProxy.js'

let chain: LocalChain
/** The first signer: pays. */
let operator: EoaWallet
let signers: readonly EoaWallet[]
let before: string

beforeAll(async () => {
  chain = await startLocalChain({ facilitatorCount: 0, hasBatchSettler: false })
})
beforeEach(async () => {
  before = await chain.control.snapshot()
  operator = createEoa()
  signers = [operator]
  await chain.fundGas(operator.address, parseEther('1'))
})
afterEach(async () => {
  await chain.control.setAutomine(true)
  await chain.control.revert(before)
})
afterAll(() => chain.stop())

interface Run {
  readonly network?: string
  readonly isDryRun?: boolean
  readonly url?: string
}

/** What is printed; throws as the command does. */
const run = async ({ network = chain.network, isDryRun = false, url = chain.url }: Run = {}) => {
  const lines: string[] = []
  const reading = readEvmSettings({
    EVM_PRIVATE_KEY: signers.map(({ privateKey }) => privateKey).join(','),
    [`EVM_RPC_URL_${chain.chainId}`]: url,
    EVM_RPC_TIMEOUT_MS: patientTimeoutMs,
  })
  if ('problems' in reading || reading.settings === null) throw new Error('The settings cannot be read')
  await deploy(reading.settings, { network, isDryRun, print: (line) => lines.push(line) })
  return lines.join('\n')
}

const refusalOf = async (options?: Run): Promise<string> => {
  const error = await run(options).catch((cause: unknown) => cause)
  if (!(error instanceof DeploymentError)) throw error
  expect(error.message).not.toContain(operator.privateKey.slice(2))
  return error.message
}

const codeAt = (address: Address): Promise<Hex | undefined> => chain.client.getCode({ address })
const countSent = (): Promise<number> => chain.client.getTransactionCount({ address: operator.address })

/** The contracts of the operator's signers. */
const listContracts = (): readonly DeployedContract[] => [
  batchSettler,
  locateUptoRouter(signers.map(({ address }) => address)),
]
const isDeployed = (contract: DeployedContract): Promise<boolean> =>
  createContractPresence({ getCode: async (address) => (await codeAt(address)) ?? '0x' }, contract).ask()

describe('the deployment of our contracts', () => {
  it('puts the expected code at the published addresses, and says what it costs', async () => {
    const output = await run()
    for (const contract of listContracts()) {
      const { name, address } = contract
      expect(output).toMatch(
        new RegExp(`${name} ${address} on .*: costs at most 0\\.\\d+ of the native coin`),
      )
      expect(output).toMatch(new RegExp(`${name} ${address} on .*: deployed, with the expected code\\.`))
      expect(await isDeployed(contract)).toBe(true)
    }
    expect(output).not.toContain(operator.privateKey.slice(2))
  })

  it('makes all configured signers facilitators of the router, and the first of them pays', async () => {
    const second = createEoa()
    signers = [operator, second]
    await run()
    const [, router] = listContracts()
    const isFacilitator = (account: Address): Promise<boolean> =>
      chain.client.readContract({
        address: router?.address ?? '0x',
        abi: uptoRouterAbi,
        functionName: 'isFacilitator',
        args: [account],
      })
    for (const { address } of signers) expect(await isFacilitator(address)).toBe(true)
    expect(await isFacilitator(createEoa().address)).toBe(false)
    expect(await chain.client.getTransactionCount({ address: second.address })).toBe(0)
  })

  it('deploys a router beside the old one for other signers, and the batch contract once', async () => {
    await run()
    signers = [operator, createEoa()]
    const output = await run()
    expect(output).toMatch(/BatchSettler 0x\w+ on .*: deployed, with the expected code\.\nUptoRouter .*costs/)
    expect(await countSent()).toBe(3)
    for (const contract of listContracts()) expect(await isDeployed(contract)).toBe(true)
  })

  it('sends nothing the second time', async () => {
    await run()
    expect((await run()).match(/deployed, with the expected code\./g)).toHaveLength(2)
    expect(await countSent()).toBe(2)
  })

  it('sends nothing in a dry run, and says what it would cost', async () => {
    const output = await run({ isDryRun: true })
    expect(output.match(/costs at most 0\.\d+ of the native coin/g)).toHaveLength(2)
    expect(output).toMatch(/nothing was sent/)
    expect(await countSent()).toBe(0)
    for (const contract of listContracts()) expect(await codeAt(contract.address)).toBeUndefined()
  })

  it('sends nothing when the account can pay for one contract but not for both', async () => {
    const [cost] =
      /at most (0\.\d+)/.exec((await run({ isDryRun: true })).split('\n')[1] ?? '')?.slice(1) ?? []
    await chain.fundGas(operator.address, parseEther(cost ?? ''))
    expect(await refusalOf()).toMatch(/fund it/)
    expect(await countSent()).toBe(0)
  })

  it.each([false, true])('refuses an account without funds, dry run: %s', async (isDryRun) => {
    await chain.fundGas(operator.address, 1_000n)
    expect(await refusalOf({ isDryRun })).toMatch(/has 0\.000000000000001 of the native coin .* fund it/)
    expect(await countSent()).toBe(0)
  })

  it.each<[string, Hex]>([
    ['no', '0x'],
    ['another', '0x6000'],
  ])('refuses a chain with %s deployment proxy', async (_what, code) => {
    await chain.control.setCode(deploymentProxy, code)
    expect(await refusalOf()).toContain(`no deployment proxy at ${deploymentProxy}`)
    expect(await countSent()).toBe(0)
  })

  it('refuses other code at an address', async () => {
    for (const { name, address } of listContracts()) {
      await chain.control.setCode(address, '0x6000')
      expect(await refusalOf()).toContain(`${address} has other code than ${name}`)
      await chain.control.setCode(address, '0x')
    }
    expect(await countSent()).toBe(0)
  })

  it('refuses while a transaction of the account is pending, which it could replace', async () => {
    await chain.control.setAutomine(false)
    await callRpc(chain.url, 'eth_sendRawTransaction', [
      await operator.account.signTransaction({
        chainId: chain.chainId,
        nonce: 0,
        to: operator.address,
        gas: 21_000n,
        maxFeePerGas: 50_000_000_000n,
        maxPriorityFeePerGas: 1n,
      }),
    ])
    expect(await refusalOf()).toContain('has transactions in flight')
  })

  it('refuses a network that is not configured', async () => {
    expect(await refusalOf({ network: 'eip155:8453' })).toBe(
      'eip155:8453 is not configured: set EVM_RPC_URL_8453',
    )
  })

  it('refuses an endpoint of another chain', async () => {
    const other = await startLocalChain({ chainId: 8453, facilitatorCount: 0 })
    try {
      expect(await refusalOf({ url: other.url })).toContain('the endpoint serves chain 8453')
    } finally {
      await other.stop()
    }
  })

  it('ends with an error when no endpoint answers, without the secret of its URL', async () => {
    const url = `http://127.0.0.1:${await reservePort()}/v2/0123456789abcdef0123456789abcdef`
    const message = await refusalOf({ url })
    expect(message).toContain('does not answer')
    expect(message).not.toContain('0123456789abcdef')
  })
})

describe('the check whether a contract is deployed', () => {
  const check = () => {
    let nowMs = 0
    let code: Hex | null = '0x'
    let asked = 0
    const getCode = async () => {
      asked += 1
      if (code === null) throw new Error('no answer')
      return code
    }
    return {
      presence: createContractPresence({ getCode }, batchSettler, () => nowMs),
      setCode: (next: Hex | null) => {
        code = next
      },
      passMs: (ms: number) => {
        nowMs += ms
      },
      count: () => asked,
    }
  }
  const deployedCode = async (): Promise<Hex> => {
    await run()
    return (await codeAt(batchSettler.address)) ?? '0x'
  }

  it('is repeated after ten minutes while it is absent, and never once it is deployed', async () => {
    const { presence, setCode, passMs, count } = check()
    expect(presence.peek()).toBeNull()
    expect(await presence.ask()).toBe(false)
    setCode(await deployedCode())
    passMs(599_999)
    expect(await presence.ask()).toBe(false)
    expect(presence.peek()).toBe(false)
    expect(count()).toBe(1)
    passMs(1)
    expect(await presence.ask()).toBe(true)
    passMs(10_000_000)
    expect(await presence.ask()).toBe(true)
    expect(presence.peek()).toBe(true)
    expect(count()).toBe(2)
  })

  it('rejects while no endpoint answers, and is repeated at once', async () => {
    const { presence, setCode } = check()
    setCode(null)
    await expect(presence.ask()).rejects.toThrow('no answer')
    expect(presence.peek()).toBeNull()
    expect(await isPresent(presence)).toBe(false)
    setCode(await deployedCode())
    expect(await presence.ask()).toBe(true)
  })

  it('keeps what it was while no endpoint answers', async () => {
    const { presence, setCode, passMs } = check()
    expect(await presence.ask()).toBe(false)
    setCode(null)
    passMs(600_000)
    expect(await presence.ask()).toBe(false)
    setCode(await deployedCode())
    expect(await presence.ask()).toBe(true)
  })

  it('does not take other code for it', async () => {
    const { presence, setCode } = check()
    setCode('0x6000')
    expect(await presence.ask()).toBe(false)
  })
})
