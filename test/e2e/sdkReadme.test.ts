import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../sdk/src/index.js'
import { stripTypes } from '../support/compileProject.js'
import { environmentFor } from '../support/core.js'
import { exactPayment } from '../support/evm/payment.js'
import { createEoa } from '../support/evm/wallets.js'
import { type FacilitatorProcess, startFacilitator } from '../support/facilitator.js'
import { readCodeBlocks } from '../support/markdown.js'
import { useTestDatabase } from '../support/postgres.js'
import { reservePort } from '../support/reservePort.js'
import { sandboxChain, sandboxUpto } from '../support/sandbox/streams.js'
import { makeTemporaryFolder } from '../support/temporaryFolder.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)
const page = readFileSync(join(root, 'sdk/README.md'), 'utf8')
const [install = '', basics = '', upto = '', servers = '', webhooks = '', ...others] = readCodeBlocks(page)

describe('the README of the client library', () => {
  const database = useTestDatabase()
  let service: FacilitatorProcess
  let folder: string
  let apiKey: string

  beforeAll(async () => {
    folder = await makeTemporaryFolder('quittance-sdk-', { onDisk: true })
    service = await startFacilitator(
      {
        ...environmentFor({ databaseUrl: database.url }),
        SANDBOX: 'true',
        DATA_FOLDER: join(folder, 'data'),
        LOG_LEVEL: 'error',
        HOST: '127.0.0.1',
        PORT: String(await reservePort()),
      },
      () => undefined,
    )
    const { data } = await createClient({ url: service.url }).api.POST('/register', {
      body: { email: 'ada@example.com', projectName: 'engine' },
    })
    apiKey = data?.apiKey ?? ''
    await installPackage()
  })
  afterAll(async () => {
    await service.stop()
    await rm(folder, { recursive: true })
  })

  /** As its commands do; its dependencies are those of this project, without a registry. */
  const installPackage = async (): Promise<void> => {
    const [pack = '', , installed = ''] = install.split('\n')
    const [command, file = ''] = pack.split(/\s+# writes /)
    expect(command).toBe('npm pack ./sdk')
    expect(installed).toBe(`npm install ../quittance/${file}`)
    await run('npm', ['pack', './sdk', '--pack-destination', folder], { cwd: root })
    const target = join(folder, 'node_modules/@quittance/client')
    await mkdir(target, { recursive: true })
    await run('tar', ['-xzf', join(folder, file), '-C', target, '--strip-components=1'])
    await symlink(join(root, 'node_modules'), join(target, 'node_modules'))
    for (const name of ['@x402', 'express']) {
      await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name))
    }
  }

  /** What the block prints, between what precedes and follows it in a program. */
  const runBlock = async (block: string, before: string, after = ''): Promise<string> => {
    const imports = /^(?:import .*\n)*/.exec(block)?.[0] ?? ''
    const code = [imports, before, block.slice(imports.length), after].join('\n')
    const file = join(folder, 'program.mjs')
    await writeFile(file, await stripTypes(code.replaceAll('https://facilitator.example', service.url)))
    const { stdout } = await run(process.execPath, [file], {
      cwd: folder,
      env: { ...process.env, QUITTANCE_API_KEY: apiKey },
    })
    return stdout.trim()
  }

  const signExact = async (id: string) => {
    const payment = await exactPayment({ chain: sandboxChain, wallet: createEoa() })
    const { paymentPayload, paymentRequirements } = payment
    return `
      const order = { id: '${id}' }
      const deliver = (order: unknown) => console.log(JSON.stringify(order))
      const paymentPayload = ${JSON.stringify(paymentPayload)} as const
      const paymentRequirements = ${JSON.stringify(paymentRequirements)} as const`
  }

  it('has no block without a test', () => {
    expect(others).toEqual([])
  })

  it('verifies a payment, settles it and delivers the order, with the packed package', async () => {
    const printed = await runBlock(basics, await signExact('order-1'), 'console.log(isValid, invalidReason)')
    expect(printed).toBe('{"id":"order-1"}\ntrue undefined')
  })

  it('calls an operation that has no method of its own', async () => {
    const before = `import { createClient } from '@quittance/client'
      const quittance = createClient({ url: '${service.url}', apiKey: process.env.QUITTANCE_API_KEY })
      const { data } =`
    const [, call = ''] = /`(await quittance\.api\.GET\([^`]*)`/.exec(page) ?? []
    expect(await runBlock(call, before, 'console.log(Array.isArray(data.entries))')).toBe('true')
  })

  it('shows what was paid of a payment under upto', async () => {
    const { paymentPayload, paymentRequirements } = await sandboxUpto()
    const before = `import { createClient } from '@quittance/client'
      const quittance = createClient({ url: '${service.url}' })
      const paymentPayload = ${JSON.stringify(paymentPayload)}
      const paymentRequirements = ${JSON.stringify(paymentRequirements)}`
    expect(await runBlock(upto, before)).toBe('7000 of 10000')
  })

  it('configures the facilitator client of x402 with the key', async () => {
    const after = 'console.log((await facilitator.getSupported()).kinds.length > 0)'
    expect(await runBlock(servers, 'const apiKey = process.env.QUITTANCE_API_KEY', after)).toBe('true')
  })

  it('verifies a webhook as it arrived, and answers 204', async () => {
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
    const body = JSON.stringify({ id: 'm1', type: 'settlement.confirmed', timestamp: '', data: { id: 's1' } })
    const now = new Date()
    const headers = {
      'content-type': 'application/json',
      'webhook-id': 'm1',
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign('m1', now, body),
    }
    const before = `import express from 'express'
      const app = express()
      const secret = '${secret}'
      const deliver = (id: string) => console.log(id)`
    const after = `const server = app.listen(0, '127.0.0.1', async () => {
        const url = \`http://127.0.0.1:\${server.address().port}/hook\`
        const request = { method: 'POST', headers: ${JSON.stringify(headers)}, body: ${JSON.stringify(body)} }
        console.log((await fetch(url, request)).status)
        const changed = { ...request, body: request.body.replace('s1', 's2') }
        console.log((await fetch(url, changed)).ok)
        server.closeAllConnections()
        server.close()
      })`
    expect(await runBlock(webhooks, before, after)).toBe('s1\n204\nfalse')
  })
})
