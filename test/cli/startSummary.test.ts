import { describe, expect, it } from 'vitest'
import { createPaint } from '../../src/cli/screen.js'
import { describeStart, type ShownNetwork } from '../../src/cli/startSummary.js'
import { readConfig } from '../../src/config.js'

const signer = '0x18f77dd01186556F1F745E7847A4686421dEE072'
const base: ShownNetwork = {
  network: 'eip155:8453',
  isServing: true,
  problem: null,
  signers: [{ signer, balance: 1_234_567_890_000_000_000n, settlementsLeft: 12_345 }],
}

const summaryOf = (
  environment: Readonly<Record<string, string>>,
  networks: readonly ShownNetwork[] = [base],
) =>
  describeStart(
    { version: '1.2.3', port: 8_080, config: readConfig({ SANDBOX: 'false', ...environment }), networks },
    createPaint(false),
  )

describe('the summary at the start', () => {
  it('shows version, URL, docs, networks with signers and balances, database, limits and keys', () => {
    expect(summaryOf({})).toContain(
      [
        '  quittance 1.2.3',
        '',
        '  url        http://localhost:8080',
        '  docs       http://localhost:8080/docs',
        '  networks   eip155:8453  serving',
        `               ${signer}  1.2345, enough for about 12,345 settlements`,
        '  database   embedded Postgres in ./data',
        '  limits     on, counted by this process',
        '  keys       optional, registration once',
      ].join('\n'),
    )
  })

  it.each([
    ['solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', 2_500_000_000n, '2.5000 SOL'],
    ['ton:mainnet', 999_999_999n, '0.9999 TON'],
    ['tron:mainnet', 1_000_000n, '1.0000 TRX'],
    ['other:1', 7n, '7'],
  ])('shows the balance of a signer on %s in its coin', (network, balance, shown) => {
    const signers = [{ signer: 'payer', balance, settlementsLeft: 0 }]
    expect(summaryOf({}, [{ ...base, network, signers }])).toContain(
      `payer  ${shown}, pays for no settlement\n`,
    )
  })

  it('says what a network that is served does not settle', () => {
    const limitations = ['upto by permit is not offered\u001B[2J']
    expect(summaryOf({}, [{ ...base, limitations }])).toMatch(
      / {2}serving\n +0x\w{40} .*\n {15}upto by permit is not offered \[2J\n/,
    )
  })

  it('says why a network is not served', () => {
    const network = { ...base, isServing: false, problem: 'no node answers\u001B[2J' }
    expect(summaryOf({}, [network])).toContain('eip155:8453  not serving: no node answers [2J\n')
  })

  it.each<[string, Record<string, string>, readonly ShownNetwork[], string]>([
    ['nothing can be paid', {}, [], 'No network is configured'],
    ['keys are shown to everyone', { REGISTRATION: 'open' }, [base], 'REGISTRATION=open shows every caller'],
    ['all may settle', {}, [base], 'Every caller that reaches 0.0.0.0 settles at your expense'],
    ['nothing is limited', { RATE_LIMITS: 'off' }, [base], 'RATE_LIMITS=off'],
    ['metrics are public', {}, [base], '/metrics is public'],
  ])('warns where %s', (_what, environment, networks, warning) => {
    expect(summaryOf(environment, networks)).toContain(`  ! ${warning}`)
  })

  it('warns of nothing where only this machine and holders of keys are let in', () => {
    expect(summaryOf({ HOST: '127.0.0.1' })).not.toContain(' ! ')
    const guarded = { API_KEY_REQUIRED: 'true', REGISTRATION: 'once', METRICS_TOKEN: 'a-token-of-16-or-more' }
    expect(summaryOf(guarded)).not.toContain(' ! ')
  })

  it('never shows the URL of the database, which has a password', () => {
    const text = summaryOf({ DATABASE_URL: 'postgres://user:hunter2@db.example/quittance' })
    expect(text).toContain('  database   DATABASE_URL\n')
    expect(text).not.toContain('hunter2')
  })
})
