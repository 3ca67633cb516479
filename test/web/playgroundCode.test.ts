import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Recorded, snippets } from '../../web/src/playground/snippets.js'
import { findChromium } from '../support/chromium.js'
import { exactPayment } from '../support/evm/payment.js'
import { createEoa } from '../support/evm/wallets.js'
import { useTestDatabase } from '../support/postgres.js'
import { sandboxChain } from '../support/sandbox/streams.js'
import { startService, type TestService } from '../support/service.js'
import { isInstalled, runCode } from './runCode.js'
import { createCalls } from './support.js'
import { openPlayground } from './walk.js'

const chromium = findChromium()
const programs = { curl: 'curl', TypeScript: 'node', Python: 'python3', Go: 'go' }
const languages = Object.entries(programs)

const write = (language: string, recorded: Recorded): string => {
  const snippet = snippets.find((each) => each.language === language)
  if (snippet === undefined) throw new Error(`No code is written in ${language}`)
  return snippet.write(recorded)
}

/** The answers in their order; programs print the status before each. */
const readAnswers = (output: string) =>
  output
    .trim()
    .split('\n')
    .map((line) => z.looseObject({}).parse(JSON.parse(line.slice(line.indexOf('{')))))

// It ends strings, comments and templates of each language, and begins commands.
const hostile = `' " \` \${process.exit(1)} $(exit 1) \\ \n JSON\nJSON\n""" ''' */ </script><b>\u2028 ünïcode 🧾`

describe('the code of the playground', () => {
  const database = useTestDatabase({ isSandbox: true })
  let service: TestService
  beforeAll(async () => {
    service = await startService({ databaseUrl: database.url, environment: { SANDBOX: 'true' } })
  })
  afterAll(() => service.close())

  it('settles one signed payment once for its project, in every language, and changes no text', async () => {
    const apiKey = await createCalls(service.url).register('code@example.com')
    const payment = await exactPayment({
      chain: sandboxChain,
      wallet: createEoa(),
      resource: { description: hostile },
    })
    const requirements = { ...payment.paymentRequirements, extra: { note: hostile } }
    const draft = { x402Version: 2, accepts: [requirements], resource: 'https://merchant.example/report' }
    const ids = new Set<unknown>()
    for (const [language, program] of languages) {
      const code = write(language, {
        origin: service.url,
        hasKey: true,
        draft,
        payment: { body: payment },
        idempotencyKey: 'order-1',
      })
      expect(code).not.toContain(apiKey)
      if (!isInstalled(program)) continue
      const [accepted, verified, settled, ...others] = readAnswers(await runCode(language, code, apiKey))
      expect(others).toEqual([])
      expect(accepted).toMatchObject({ accepts: [{ extra: { note: hostile } }] })
      // Once it was paid, only the same order is answered with success.
      expect(verified).toMatchObject({ isValid: ids.size === 0 })
      expect(settled).toMatchObject({ success: true })
      ids.add(settled?.settlementId)
    }
    expect(ids.size).toBe(1)
    const listed = await fetch(`${service.url}/dashboard/settlements`, {
      headers: { authorization: `Bearer ${apiKey}` },
    })
    expect(await listed.json()).toMatchObject({ settlements: [{ id: [...ids][0] }] })
  })

  it('has what a text of Go needs: its imports, and data that can be read back', () => {
    const body = { note: hostile, plain: 1 }
    const code = write('Go', {
      origin: 'http://127.0.0.1:8080',
      hasKey: true,
      draft: { plain: ['a'] },
      payment: { body },
      idempotencyKey: 'order-1',
    })
    const literals = [...code.matchAll(/\[\]byte\((`[^`]*`|"(?:[^"\\]|\\.)*")\)/g)].map(([, each = '']) =>
      JSON.parse(each.startsWith('`') ? each.slice(1, -1) : JSON.parse(each)),
    )
    expect(literals).toEqual([{ plain: ['a'] }, body])
    const [, imports = ''] = /import \(\n([^)]*)\)/.exec(code) ?? []
    const imported = [...imports.matchAll(/"(?:\w+\/)?(\w+)"/g)].map(([, name]) => name)
    const used = [...code.matchAll(/\b(bytes|fmt|io|http|os|time)\.[A-Z]/g)].map(([, name]) => name)
    expect(new Set(imported)).toEqual(new Set(used))
  })

  it.skipIf(chromium === null)(
    'settles a new payment of the sandbox each time it runs, as the page shows it',
    async () => {
      const { start, runAll, waitFor, readCode, close } = await openPlayground(chromium ?? '', service.url)
      const codes = new Map<string, string>()
      try {
        await start()
        await runAll()
        await waitFor('Settle', 'Settled')
        for (const [language] of languages) codes.set(language, await readCode(language))
      } finally {
        await close()
      }
      const ids: unknown[] = []
      for (const [language, program] of languages) {
        const code = codes.get(language) ?? ''
        expect(code).toContain('/sandbox/payments/CAFE11?network=eip155%3A84532')
        if (!isInstalled(program)) continue
        for (const output of [await runCode(language, code), await runCode(language, code)]) {
          const settled = readAnswers(output).at(-1)
          expect(settled).toMatchObject({ success: true })
          ids.push(settled?.settlementId)
        }
      }
      expect(ids.length).toBeGreaterThan(0)
      expect(new Set(ids).size).toBe(ids.length)
    },
  )
})
