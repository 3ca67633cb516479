import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { ExactEvmScheme } from '@x402/evm'
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createClient } from '../../sdk/src/index.js'
import { createPaint } from '../../src/cli/screen.js'
import { describeStart } from '../../src/cli/startSummary.js'
import { readConfig } from '../../src/config.js'
import { startProcess } from '../start/support.js'
import { stripTypes } from '../support/compileProject.js'
import { randomAddress } from '../support/evm/authorization.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { exactPayment } from '../support/evm/payment.js'
import { createEoa } from '../support/evm/wallets.js'
import { type FacilitatorProcess, startFacilitator } from '../support/facilitator.js'
import { readCodeBlocks } from '../support/markdown.js'
import { pollUntil } from '../support/pollUntil.js'
import { createTestDatabase, type TestDatabase, useTestDatabase } from '../support/postgres.js'
import { findProgram } from '../support/program.js'
import { reservePort } from '../support/reservePort.js'
import { patientTimeoutMs } from '../support/rpcProxy.js'
import { startService, type TestService } from '../support/service.js'
import { makeTemporaryFolder } from '../support/temporaryFolder.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const readText = (path: string): string => readFileSync(join(root, path), 'utf8')

const openFacilitator = "const facilitator = new HTTPFacilitatorClient({ url: 'http://localhost:8080' })"
const exampleRecipient = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C'

/** The code block of a page that contains a text. */
const findBlock = (page: string, text: string): string => {
  const [block, ...others] = readCodeBlocks(readText(page)).filter((each) => each.includes(text))
  if (block === undefined || others.length > 0) throw new Error(`${page} has no single block with ${text}`)
  return block
}

/** Every text must be there: an example that changed must not be tested in an old form. */
const replaceAll = (code: string, texts: Readonly<Record<string, string>>): string =>
  Object.entries(texts).reduce((changed, [text, replacement]) => {
    if (!changed.includes(text)) throw new Error(`The example has no ${text}`)
    return changed.replaceAll(text, replacement)
  }, code)

describe('the guides', () => {
  let chain: LocalChain
  const database = useTestDatabase()
  let service: TestService
  let folder: string

  beforeAll(async () => {
    chain = await startLocalChain({ facilitatorCount: 1 })
    service = await startService({ chain, databaseUrl: database.url })
  })
  afterAll(async () => {
    await service.close()
    await chain.stop()
  })
  beforeEach(async () => {
    folder = await makeTemporaryFolder('quittance-guides-', { onDisk: true })
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  })
  afterEach(async () => {
    await chain.control.setAutomine(true)
    await rm(folder, { recursive: true, force: true })
  })

  const createCustomer = async () => {
    const customer = privateKeyToAccount(generatePrivateKey())
    await chain.mint(customer.address, 1_000_000n)
    return wrapFetchWithPaymentFromConfig(fetch, {
      schemes: [{ network: 'eip155:84532', client: new ExactEvmScheme(customer) }],
    })
  }

  /** The shop of the README with an API key as docs/keys.md has it, on the local chain. */
  const openShop = async (
    change: (code: string) => string = (code) => code,
    { url: serviceUrl } = service,
  ) => {
    const payTo = randomAddress()
    const port = await reservePort()
    const client = createClient({ url: serviceUrl })
    const { data } = await client.api.POST('/register', {
      body: { email: `${port}@example.com`, projectName: 'shop' },
    })
    const apiKey = data?.apiKey ?? ''
    const code = replaceAll(findBlock('README.md', 'paymentMiddleware'), {
      [openFacilitator]: findBlock('docs/keys.md', 'createAuthHeaders'),
      [exampleRecipient]: payTo,
      '4021': String(port),
    })
    const file = join(folder, 'shop.mjs')
    const changed = change(code.replaceAll('https://facilitator.example', serviceUrl))
    await writeFile(file, await stripTypes(changed))
    const environment = { QUITTANCE_API_KEY: apiKey }
    const shop = await startShop([process.execPath, file], { port, environment })
    return { ...shop, payTo, account: createClient({ url: serviceUrl, apiKey }) }
  }

  const startShop = async (
    command: readonly string[],
    { port, environment = {} }: { readonly port: number; readonly environment?: Record<string, string> },
  ) => {
    const shop = startProcess(command, { cwd: folder, environment })
    const url = `http://127.0.0.1:${port}/report`
    const isSelling = (): Promise<boolean> =>
      fetch(url).then(
        ({ status }) => status === 402,
        () => false,
      )
    await pollUntil(isSelling, 'the shop to answer 402')
    const close = async () => {
      shop.child.kill('SIGKILL')
      await shop.ended
    }
    return { url, close }
  }

  /** In a process of its own, as `npm start` does. */
  const startSandbox = async ({ url }: TestDatabase): Promise<FacilitatorProcess> =>
    await startFacilitator(
      {
        SANDBOX: 'true',
        VERIFY_DEADLINE_SECONDS: '60',
        DATABASE_URL: url,
        DATA_FOLDER: folder,
        LOG_LEVEL: 'error',
        HOST: '127.0.0.1',
        PORT: String(await reservePort()),
      },
      () => undefined,
    )

  const runBuy = (...args: readonly string[]) => {
    const { flags, file } = findProgram(new URL('../demo/buy.ts', import.meta.url))
    // No demo runs there.
    return startProcess([process.execPath, ...flags, file, ...args], { environment: { SHOP_PORT: '1' } })
      .ended
  }

  it('“Sell something in 12 lines” sells in the sandbox as it stands there, and npm run buy pays it', async () => {
    const sandbox = await createTestDatabase({ isSandbox: true })
    const open = await startSandbox(sandbox)
    const port = await reservePort()
    const code = replaceAll(findBlock('README.md', 'paymentMiddleware'), {
      'http://localhost:8080': open.url,
      '4021': String(port),
    })
    expect(readText('README.md')).toContain('and `shop.mjs`:')
    expect(code).toContain(exampleRecipient)
    await writeFile(join(folder, 'shop.mjs'), code)
    const shop = await startShop([process.execPath, join(folder, 'shop.mjs')], { port })
    try {
      const [, ...buy] = findBlock('README.md', '--url').split('#')[0]?.trim().split(' -- ') ?? []
      expect(buy).toEqual(['--url http://127.0.0.1:4021/report'])
      const bought = await runBuy('--url', shop.url)
      expect(bought).toMatchObject({ code: 0, errors: '' })
      expect(bought.output).toMatch(/a new key without funds[\s\S]*200 OK[\s\S]*"forecast":"sunny"/)
      const key = generatePrivateKey()
      const withKey = await runBuy('--url', shop.url, '--key', key)
      expect(withKey).toMatchObject({
        code: 0,
        output: expect.stringContaining('The owner of your key buys'),
      })
      const payer = privateKeyToAccount(key).address
      const { rows } = await sandbox
        .pool()
        .query('select state from settlements where payer ilike $1', [payer])
      expect(rows).toEqual([{ state: 'confirmed' }])

      expect(await runBuy('--url', shop.url, '--max', '9999')).toMatchObject({
        code: 1,
        errors: expect.stringContaining('The shop asks for 10000 smallest units, and --max allows 9999'),
      })
      expect(await runBuy('--url', open.url)).toMatchObject({
        code: 1,
        errors: `${open.url} answers 200, and not 402 with the header PAYMENT-REQUIRED\n`,
      })
    } finally {
      await shop.close()
      await open.stop()
      await sandbox.drop()
    }
    // Starts a service, a shop and four buyers, each a process.
  }, 300_000)

  it('“Sell something in 12 lines” sells on a chain, and counts for the API key of docs/keys.md', async () => {
    const shop = await openShop()
    try {
      const buy = await createCustomer()
      const response = await buy(shop.url)
      expect(response.status).toBe(200)
      expect(await response.json()).toEqual({ forecast: 'sunny' })
      expect(await chain.balanceOf(shop.payTo)).toBe(10_000n)
      const settlements = []
      for await (const { payTo, status } of shop.account.dashboard.settlements()) {
        settlements.push({ payTo: payTo.toLowerCase(), status })
      }
      expect(settlements).toEqual([{ payTo: shop.payTo.toLowerCase(), status: 'confirmed' }])
    } finally {
      await shop.close()
    }
  })

  /** What a block prints that calls a facilitator at its usual address: here a sandbox. */
  const runInSandbox = async (block: string): Promise<string> => {
    const sandbox = await createTestDatabase({ isSandbox: true })
    const open = await startSandbox(sandbox)
    try {
      const file = join(folder, 'client.mjs')
      await writeFile(file, await stripTypes(replaceAll(block, { 'http://localhost:8080': open.url })))
      const { output, errors } = await startProcess([process.execPath, file], { cwd: folder }).ended
      expect(errors).toBe('')
      return output
    } finally {
      await open.stop()
      await sandbox.drop()
    }
  }

  it('“The payer’s side” of a stream opens, signs what was used, and pays exactly that', async () => {
    expect(await runInSandbox(findBlock('docs/streams.md', 'parseSignature'))).toBe('closed 2500\n')
  })

  it('“Channels” of the sandbox opens one, buys by vouchers, collects and returns the rest', async () => {
    expect(await runInSandbox(findBlock('docs/sandbox.md', 'createChannelManager'))).toMatch(
      /^200 by a deposit\n(?:200 by a voucher\n){2}claimed 1\nreturned [1-9][0-9]*\n$/,
    )
  })

  it('the payer’s side of an intent pays by the recommended route', async () => {
    expect(await runInSandbox(findBlock('docs/intents.md', 'ExactEvmScheme'))).toMatch(
      /^completed 0x[0-9a-f]{64}\n$/,
    )
  })

  it('“When settle is pending” makes a middleware wait, and the sale is not lost', async () => {
    const patient = findBlock('docs/api.md', 'PatientFacilitatorClient')
    const impatient = await startService({
      chain,
      databaseUrl: database.url,
      environment: { SETTLE_WAIT_SECONDS: '1' },
    })
    const shop = await openShop(
      (code) =>
        replaceAll(code, {
          'new HTTPFacilitatorClient(': 'new PatientFacilitatorClient(',
          "const network = 'eip155:84532'": `${patient}\nconst network = 'eip155:84532'`,
        }),
      impatient,
    )
    try {
      const buy = await createCustomer()
      await chain.control.setAutomine(false)
      const bought = buy(shop.url)
      await pollUntil(async () => {
        const { rowCount } = await database.pool.query(
          "select from webhook_deliveries where type = 'settlement.pending' and data->>'payTo' ilike $1",
          [shop.payTo],
        )
        return rowCount === 1
      }, 'a pending settlement')
      await chain.control.setAutomine(true)
      await chain.control.mine()
      const response = await bought
      expect(response.status).toBe(200)
      expect(await chain.balanceOf(shop.payTo)).toBe(10_000n)
    } finally {
      await shop.close()
      await impatient.close()
    }
  })

  it('“Testnet in five minutes” writes a .env that serves Base Sepolia with a new gas wallet', async () => {
    const commands = findBlock('README.md', 'EVM_NETWORKS=84532').split('\n')
    const script = commands.filter((line) => line.includes('.env')).join('\n')
    expect(commands.filter((line) => line !== '' && !line.includes('.env'))).toEqual(['npm ci', 'npm start'])
    execFileSync('sh', ['-ec', script], { cwd: folder })
    const { EVM_PRIVATE_KEY: key = '' } = parseEnv(readFileSync(join(folder, '.env'), 'utf8'))
    const { address } = privateKeyToAccount(`0x${key.slice(2)}`)
    await chain.fundGas(address)

    const own = await createTestDatabase()
    const { flags, file } = findProgram(new URL('../../src/main.ts', import.meta.url))
    const facilitator = startProcess([process.execPath, ...flags, file], {
      cwd: folder,
      environment: {
        // In place of the public endpoint.
        EVM_RPC_URL_84532: chain.url,
        EVM_RPC_TIMEOUT_MS: patientTimeoutMs,
        SETTLE_WAIT_SECONDS: '60',
        DATABASE_URL: own.url,
        HOST: '127.0.0.1',
        PORT: '0',
      },
    })
    try {
      const [, port] = await facilitator.waitFor(/"port":(\d+),"msg":"service\.listening"/)
      const client = createClient({ url: `http://127.0.0.1:${port}` })
      await pollUntil(async () => {
        const { data } = await client.api.GET('/supported')
        return data?.signers['eip155:*']?.includes(address)
      }, 'the network to be served')
      const wallet = createEoa()
      await chain.mint(wallet.address, 10_000n)
      const payTo = randomAddress()
      const payment = await exactPayment({ chain, wallet, payTo, amount: 10_000n })
      expect(await client.settle(payment)).toMatchObject({ success: true })
      expect(await chain.balanceOf(payTo)).toBe(10_000n)
    } finally {
      facilitator.child.kill('SIGTERM')
      const { code, errors } = await facilitator.ended
      await own.drop()
      expect(code, errors).toBe(0)
    }
  })

  it('“Before production” is a configuration without a warning at the start', () => {
    const secret = '0123456789abcdef'.repeat(4)
    const block = findBlock('README.md', 'REGISTRATION=verified').replaceAll('=...', `=${secret}`)
    const variables = parseEnv(
      block.replace('postgres://...', 'postgres://user:password@db.example/quittance'),
    )
    const config = readConfig({ ...variables, EVM_PRIVATE_KEY: generatePrivateKey() })
    expect(config.accounts).toMatchObject({ apiKeyRequired: true, registration: 'verified' })
    const network = { network: 'eip155:8453', isServing: true, problem: null, signers: [] }
    const summary = describeStart(
      { version: '1', port: 8080, config, networks: [network] },
      createPaint(false),
    )
    expect(summary.split('\n').filter((line) => line.startsWith('  !'))).toEqual([])
  })
})
