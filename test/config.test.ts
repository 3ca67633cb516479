import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defineChain } from '../src/chains/chain.js'
import { evmVariables, readEvmSettings } from '../src/chains/evm/settings.js'
import { families } from '../src/chains/index.js'
import { serviceVariables } from '../src/config/environment.js'
import { ConfigError, listFeatures, readConfig } from '../src/config.js'
import { selfHostedTiers, specificationTiers } from '../src/protocol/tiers.js'

const key = `0x${'ab'.repeat(32)}`
const token = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'

const problemsOf = (...given: Parameters<typeof readConfig>): readonly string[] => {
  try {
    readConfig(...given)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

const evmOf = (environment: Readonly<Record<string, string>>) => {
  const reading = readEvmSettings(environment)
  if ('problems' in reading) throw new Error(reading.problems.join('\n'))
  if (reading.settings === null) throw new Error('The family is not configured')
  return reading.settings
}

const networksOf = (environment: Readonly<Record<string, string>>) =>
  evmOf(environment).networks.map(({ chainId }) => chainId)

const networkOf = (environment: Readonly<Record<string, string>>) => {
  const [network] = evmOf(environment).networks
  if (network === undefined) throw new Error('No network is configured')
  return network
}

const ownNetwork = {
  allow: ['127.0.0.0/8', '::1', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

describe('an environment without a chain', () => {
  it('is valid: embedded database, in-process limits', () => {
    expect(readConfig({}, [])).toMatchObject({
      stores: { databaseUrl: null, dataFolder: './data', redisUrl: null },
      accounts: { apiKeyRequired: false, mail: null },
      tiers: { table: selfHostedTiers, source: 'self-hosted', registration: 'free' },
      requiresCrossCheck: true,
      sandbox: 'off',
      chains: [],
    })
  })

  it.each(['', ' ', '\t\n'])('is equivalent to a value of %j', (blank) => {
    const names = [...serviceVariables, ...evmVariables.family, 'EVM_RPC_URL_8453', 'EVM_TOKENS_8453']
    expect(readConfig(Object.fromEntries(names.map((name) => [name, blank])), [])).toEqual(readConfig({}, []))
  })

  it('ignores unrelated variables', () => {
    expect(readConfig({ PATH: '/bin', HOSTNAME: 'box', PORTS: 'x', constructor: 'x' }, [])).toEqual(
      readConfig({}, []),
    )
  })
})

describe('a variable that is no setting', () => {
  const misspelt = (name: string, meant: string) =>
    `${name}: is not a known setting; did you mean ${meant}? If not, remove it, or name it in OTHER_VARIABLES if another program reads it`

  it.each([
    ['DATABASE_URI', 'DATABASE_URL'],
    ['DATABSE_URL', 'DATABASE_URL'],
    ['DATABASEURL', 'DATABASE_URL'],
    ['database_url', 'DATABASE_URL'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['LOG-LEVEL', 'LOG_LEVEL'],
    ['REIDS_URL', 'REDIS_URL'],
    ['SANBOX', 'SANDBOX'],
    ['API_KEYS_REQUIRED', 'API_KEY_REQUIRED'],
    ['API_KEY_REQUIERD', 'API_KEY_REQUIRED'],
    ['KEY_ENCRYPTION_SERCET', 'KEY_ENCRYPTION_SECRET'],
    ['DATABASE_REED_URL', 'DATABASE_READ_URL'],
    ['WEBHOOKS_ALLOW', 'WEBHOOK_ALLOW'],
    ['EMAIL_FROM', 'MAIL_FROM'],
    ['DEPLOY_ERC4337_WITH_EIP6942', 'DEPLOY_ERC4337_WITH_EIP6492'],
    ['EMV_PRIVATE_KEY', 'EVM_PRIVATE_KEY'],
    ['SOLONA_RPC_URL_devnet', 'SOLANA_RPC_URL_devnet'],
    ['POLKADOT1_RPC_URL_assethub', 'POLKADOT_RPC_URL_assethub'],
  ])('%s is refused as a misspelt %s', (name, meant) => {
    expect(problemsOf({ [name]: 'hunter2' })).toEqual([misspelt(name, meant)])
  })

  it('is accepted where the setting that it resembles is set too', () => {
    const url = 'postgres://db.example/quittance'
    expect(problemsOf({ DATABASE_URL: url, DATABASE_URI: url, SANDBOX: 'false' })).toEqual([])
    expect(problemsOf({ DATABASE_URL: ' ', DATABASE_URI: url })).toEqual([
      misspelt('DATABASE_URI', 'DATABASE_URL'),
    ])
  })

  it('is accepted where it is empty', () => {
    expect(problemsOf({ DATABASE_URI: ' ', LOGLEVEL: '' })).toEqual([])
  })

  // Of runtimes, libraries, databases, clouds, orchestrators and shells; some resemble a setting.
  const foreign = `
    PATH HOME HOSTNAME HOSTTYPE PORTS HOSTS POST TIER TERM LANG LC_ALL TZ _ NODE_ENV NODE_OPTIONS
    NODE_EXTRA_CA_CERTS UV_THREADPOOL_SIZE NO_COLOR FORCE_COLOR INIT_CWD npm_config_loglevel
    npm_config_registry npm_package_name npm_lifecycle_event NPM_TOKEN http_proxy HTTPS_PROXY no_proxy
    SSL_CERT_FILE LD_PRELOAD DEBUG CI GITHUB_TOKEN PGHOST PGPORT PGUSER PGPASSWORD PGDATABASE PGSSLMODE
    PGDATA POSTGRES_PASSWORD DATABASE_SSL DATABASE_TLS DATABASE_HOST DATABASE_USER DATABASE_PORT
    DATABASE_PRIVATE_URL DATABASE_PUBLIC_URL DATABASE_URL_UNPOOLED DATABASE_CONNECTION_POOL_URL POSTGRES_URL
    MONGO_URL REDIS_SSL REDIS_TTL REDIS_HOST REDIS_TLS_URL REDIS_PUBLIC_URL REDISHOST KV_URL SMTP_SSL
    SMTP_HOST SMTP_PORT SMTP_USER MAIL_PORT MAIL_FROM_NAME METRICS_PORT KUBERNETES_SERVICE_HOST
    KUBERNETES_PORT KUBERNETES_PORT_443_TCP_ADDR REDIS_PORT_6379_TCP QUITTANCE_PORT_8080_TCP QUITTANCE_PORT
    QUITTANCE_SERVICE_PORT_HTTP SANDBOX_PORT LOG_LEVEL_PORT EVM_NODE_SERVICE_HOST EVM_NODE_SERVICE_PORT_RPC
    NEAR_PORT TON_PORT_80_TCP TON_PORT_80_TCP_ADDR SOLANA_RPC_SERVICE_PORT SOLANA_RPC_PORT_8899_TCP_PROTO
    COSMOS_PORT_26657_TCP_PORT TRON_PORT_9_UDP APTOS_SDK_WARNINGS NEAR_ENV NEAR_HOME TEZOS_LOG
    TEZOS_CLIENT_DIR SOLANA_METRICS_CONFIG AWS_REGION AWS_SECRET_ACCESS_KEY GOOGLE_APPLICATION_CREDENTIALS
    FLY_APP_NAME RENDER_SERVICE_ID RAILWAY_ENVIRONMENT VERCEL_URL DYNO HEROKU_APP_NAME WEBSITE_HOSTNAME
    INVOCATION_ID LISTEN_FDS NOTIFY_SOCKET SSH_AUTH_SOCK SHOP_PORT constructor __proto__ toString`
  it.each(foreign.trim().split(/\s+/))('%s is of another program and does not stop a start', (name) => {
    const config = readConfig({ [name]: 'tcp://10.0.0.1:80' })
    expect({ ...config, chains: [] }).toEqual({ ...readConfig({}), chains: [] })
  })

  it('never is one of the settings themselves', () => {
    const perNetwork = families.flatMap(({ variables }) => variables?.perNetwork ?? [])
    const names = [
      ...serviceVariables,
      ...families.flatMap(({ variables }) => variables?.family ?? []),
      ...perNetwork.map((name) => name.replace('<chain id>', '8453').replace(/<.*>/, 'mainnet')),
    ]
    expect(names.length).toBeGreaterThan(150)
    const problems = problemsOf(Object.fromEntries(names.map((name) => [name, 'x'])))
    expect(problems.filter((problem) => problem.includes('known setting'))).toEqual([])
  })

  it('is accepted where OTHER_VARIABLES names it, also with the prefix of a chain', () => {
    const others = {
      DATABASE_URI: 'x',
      COSMOS_KEY: 'x',
      COSMOS_ENDPOINT: 'x',
      APP_NAME: 'x',
      EVM_SUBGRAPH: 'x',
    }
    const OTHER_VARIABLES = 'DATABASE_URI, COSMOS_*,APP_NAME,EVM_*'
    expect(() =>
      readConfig({ ...others, OTHER_VARIABLES }, undefined, ['APP_NAME', 'COSMOS_KEY']),
    ).not.toThrow()
    expect(problemsOf({ ...others, OTHER_VARIABLES, EVM_PRIVATE_KEY: 'x' })).toEqual([
      'EVM_PRIVATE_KEY: must be one or several 32-byte hex keys, comma separated',
    ])
    expect(problemsOf({ OTHER_VARIABLES: '*' })).toEqual([
      'OTHER_VARIABLES: must list names of variables such as APP_NAME or APP_*, comma separated',
    ])
  })

  it('is refused in .env unless it is of the runtime, a library or a tool', () => {
    const file = {
      PROT: '80',
      COLOUR: 'red',
      REDIS_PORT: '6379',
      EVM_NODE_PORT: '8545',
      LOG_LEVEL: 'info',
      NODE_ENV: 'production',
      PGSSLMODE: 'require',
      TZ: 'UTC',
      POSTGRES_PASSWORD: 'x',
      COMPOSE_PROJECT_NAME: 'x',
    }
    const remove = 'remove it from .env, or name it in OTHER_VARIABLES if another program reads it'
    expect(problemsOf({ PATH: '/bin', ...file }, undefined, Object.keys(file))).toEqual([
      `PROT: is not a known setting; did you mean PORT? If not, ${remove}`,
      `COLOUR: is not a known setting; ${remove}`,
      `REDIS_PORT: is not a known setting; ${remove}`,
      'EVM_NODE_PORT: is not a known setting',
    ])
  })
})

describe('API keys', () => {
  const mail = { SMTP_URL: 'smtps://u:hunter2@mail.example', MAIL_FROM: 'Payments <keys@example.com>' }

  it('must not be required without a REGISTRATION mode', () => {
    expect(problemsOf({ API_KEY_REQUIRED: 'true' })).toEqual([
      'REGISTRATION: must be set, to once, open or verified, when API_KEY_REQUIRED is true',
    ])
    for (const registration of ['once', 'open', 'verified'] as const) {
      const environment = { API_KEY_REQUIRED: 'true', REGISTRATION: registration, ...mail }
      expect(readConfig(environment).accounts).toMatchObject({ apiKeyRequired: true, registration })
    }
  })

  it('sent by mail require an SMTP server and a sender', () => {
    expect(problemsOf({ REGISTRATION: 'verified' })).toEqual([
      'SMTP_URL: must be set when REGISTRATION is verified: keys go by mail',
      'MAIL_FROM: must be set when REGISTRATION is verified',
    ])
    const { accounts } = readConfig({ REGISTRATION: 'verified', ...mail })
    expect(accounts).toMatchObject({ registration: 'verified', mail: { from: mail.MAIL_FROM } })
    expect(accounts.mail?.url.reveal()).toBe(mail.SMTP_URL)
    expect(inspect(accounts)).not.toContain('hunter2')
  })

  it('required on several instances need a shared encryption secret', () => {
    const several = {
      API_KEY_REQUIRED: 'true',
      REGISTRATION: 'open',
      DATABASE_URL: 'postgres://db.example/quittance',
    }
    expect(problemsOf(several)).toEqual([
      'KEY_ENCRYPTION_SECRET: must be set when API_KEY_REQUIRED is true and DATABASE_URL is set',
    ])
    expect(problemsOf({ ...several, KEY_ENCRYPTION_SECRET: 'x'.repeat(32) })).toEqual([])
    expect(problemsOf({ DATABASE_URL: several.DATABASE_URL })).toEqual([])
  })
})

describe('a value', () => {
  it('is trimmed', () => {
    expect(readConfig({ PORT: ' 9000 ', HOST: '\t::1\n' }).server).toMatchObject({ host: '::1', port: 9_000 })
  })

  it.each([
    ['true', true],
    ['false', false],
  ])('API_KEY_REQUIRED=%s is parsed as %s', (API_KEY_REQUIRED, apiKeyRequired) => {
    expect(readConfig({ API_KEY_REQUIRED, REGISTRATION: 'open' })).toMatchObject({
      accounts: { apiKeyRequired },
    })
  })

  it('is converted to its unit', () => {
    const config = readConfig({ SETTLE_WAIT_SECONDS: '40', VERIFY_DEADLINE_SECONDS: '3' })
    expect(config).toMatchObject({ settleWaitMs: 40_000, verifyDeadlineMs: 3_000 })
  })

  it.each(['8192', '65536', '1048576'])('MAX_PAYMENT_BODY_BYTES=%s is read in bytes', (text) => {
    const { server } = readConfig({ MAX_PAYMENT_BODY_BYTES: text })
    expect(server.maxPaymentBodyBytes).toBe(Number(text))
  })

  it.each([
    ['PORT', '65536', 'must be between 0 and 65535'],
    ['PORT', '80.5', 'must be a whole number'],
    ['PORT', '-1', 'must be a whole number'],
    ['PORT', '0x50', 'must be a whole number'],
    ['PORT', '1e3', 'must be a whole number'],
    ['PORT', '８０', 'must be a whole number'],
    ['MAX_PAYMENT_BODY_BYTES', '8191', 'must be between 8192 and 1048576'],
    ['MAX_PAYMENT_BODY_BYTES', '1048577', 'must be between 8192 and 1048576'],
    ['OPERATOR_TOKEN', 'fifteen-letters', 'must be 16 or more visible ASCII characters'],
    ['OPERATOR_TOKEN', 'sixteen letters, and more', 'must be 16 or more visible ASCII characters'],
    ['API_KEY_REQUIRED', 'yes', 'must be true or false'],
    ['REGISTRATION', 'closed', 'must be once, open or verified'],
    ['KEY_ENCRYPTION_SECRET', 'x'.repeat(31), 'must be 32 or more visible ASCII characters'],
    ['KEY_ENCRYPTION_SECRET', 'ß'.repeat(40), 'must be 32 or more visible ASCII characters'],
    ['SMTP_URL', 'mail.example', 'must be a URL that begins with smtp:// or smtps://'],
    ...['Payments', 'a@b.example\r\nBcc: c@d.example'].map((text) => [
      'MAIL_FROM',
      text,
      'must be an e-mail address, or a name and one such as Payments <keys@example.com>',
    ]),
    ['DATABASE_POOL_SIZE', '1', 'must be between 2 and 500'],
    ['WORKERS', '0', 'must be auto or between 1 and 64'],
    ['WORKERS', 'all', 'must be auto or a whole number'],
    ['DATABASE_READ_POOL_SIZE', '0', 'must be between 1 and 100'],
    ['DATABASE_READ_TIMEOUT_MS', '99', 'must be between 100 and 60000'],
    ['SIWX_CLOCK_TOLERANCE_SECONDS', '301', 'must be between 0 and 300'],
    ['SETTLE_WAIT_SECONDS', '0', 'must be between 1 and 120'],
    ['SETTLE_WAIT_SECONDS', '121', 'must be between 1 and 120'],
    ['VERIFY_DEADLINE_SECONDS', '61', 'must be between 1 and 60'],
    ['SETTLES_PER_PAYER_PER_HOUR', '1000000001', 'must be between 0 and 1000000000'],
    ['EXACT_DIRECT_CLAIMS', 'closed', 'must be keyed or open'],
    ['EXACT_AMOUNT', 'more', 'must be at_least or equal'],
    ...['*,*', 'shop.near', '0x1111111111111111111111111111111111111111', 'T123'].map((text) => [
      'SPONSORED_RECIPIENTS',
      text,
      'must list addresses on TON or TRON, comma separated, or be *',
    ]),
    ...[
      'near:mainnet:shop.near',
      'near:mainnet:shop.near=',
      'shop.near=memo',
      'near:mainnet:shop.near=ownKey',
    ].map((text) => [
      'EXACT_DIRECT_RECIPIENTS',
      text,
      'must list recipients such as near:mainnet:shop.near=memo+signedClaim or …=ownKey:<account id>, comma separated',
    ]),
    ['LOG_LEVEL', 'loud', 'must be debug, info, warn, error or silent'],
    ['LOG_LEVEL', 'INFO', 'must be debug, info, warn, error or silent'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', 'must be a URL that begins with http:// or https://'],
    [
      'OTEL_EXPORTER_OTLP_HEADERS',
      'content-type=text',
      'must list headers such as authorization=Bearer%20token, comma separated',
    ],
    [
      'OTEL_EXPORTER_OTLP_HEADERS',
      'a=line%0d%0abreak',
      'must list headers such as authorization=Bearer%20token, comma separated',
    ],
    [
      'OTEL_RESOURCE_ATTRIBUTES',
      'production',
      'must list attributes such as deployment.environment.name=production, comma separated',
    ],
    [
      'OTEL_TRACES_SAMPLER',
      'jaeger_remote',
      'must be always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off or parentbased_traceidratio',
    ],
    ['OTEL_SDK_DISABLED', 'yes', 'must be true or false'],
    ['DATABASE_URL', 'localhost:5432', 'must be a URL that begins with postgres:// or postgresql://'],
    ['DATABASE_URL', 'mysql://localhost/x', 'must be a URL that begins with postgres:// or postgresql://'],
    ['REDIS_URL', 'http://localhost', 'must be a URL that begins with redis:// or rediss://'],
    ['EVM_PRIVATE_KEY', 'ab', 'must be one or several 32-byte hex keys, comma separated'],
    ['EVM_PRIVATE_KEY', `${key},${key},zz`, 'must be one or several 32-byte hex keys, comma separated'],
    ['EVM_NETWORKS', 'base', 'must be chain ids, comma separated'],
    ['EVM_RPC_TIMEOUT_MS', '99', 'must be between 100 and 60000'],
    ['EVM_EXPIRY_MARGIN_SECONDS', '601', 'must be between 0 and 600'],
    ['EVM_CROSS_CHECK_AMOUNT', '1.5', 'must be an amount in smallest units'],
    ['EVM_SMART_WALLET_FACTORIES', '0x1', 'must be addresses, comma separated, or none'],
    ['EVM_CHANNEL_AUTHORIZER_KEY', 'ab', 'must be one or several 32-byte hex keys, comma separated'],
    [
      'EVM_CHANNEL_AUTHORIZER_KEY',
      `${'ac'.repeat(32)}, ${key.slice(2).toUpperCase()}`,
      'must not be a key of EVM_PRIVATE_KEY',
    ],
    [
      'EVM_REFUND_RECEIVERS',
      'all',
      'must list receiver, receiver:authorizer or receiver:account id, or be none',
    ],
    ['DEPLOY_ERC4337_WITH_EIP6492', 'yes', 'must be true or false'],
    ['EVM_RPC_URL_8453', 'wss://node', 'must be one or several http(s) URLs, comma separated'],
    ['EVM_RPC_URL_8453', 'https://node,node', 'must be one or several http(s) URLs, comma separated'],
    ['EVM_TOKENS_8453', 'USDC', 'must list address or address:name:version[:decimals], or *'],
    ['EVM_CONFIRMATIONS_8453', '0', 'must be between 1 and 1000'],
    ['EVM_FINALITY_DEPTH_8453', '0', 'must be between 1 and 100000'],
    ['EVM_POLL_INTERVAL_MS_8453', '9', 'must be between 10 and 60000'],
    ['EVM_GAS_BUDGET_GWEI_PER_HOUR_8453', '0', 'must be between 1 and 1000000000000'],
  ])('%s=%s is rejected: %s', (name, value, problem) => {
    expect(problemsOf({ EVM_PRIVATE_KEY: key, [name]: value })).toEqual([`${name}: ${problem}`])
  })
})

describe('an invalid environment', () => {
  it('is rejected with all invalid variables, one per line', () => {
    const bad = {
      PORT: 'eighty',
      LOG_LEVEL: 'loud',
      TRUST_PROXY: '1',
      DATABASE_URL: 'x',
      REDIS_URL: 'x',
      EVM_PRIVATE_KEY: 'x',
      EVM_RPC_TIMEOUT_MS: 'x',
      EVM_TOKENS_10: 'x',
      EVM_CONFIRMATIONS_10: 'x',
      EVM_RPC_URL_8453: 'x',
    }
    expect(
      problemsOf(bad)
        .map((problem) => problem.split(':')[0])
        .sort(),
    ).toEqual(Object.keys(bad).sort())
    expect(() => readConfig(bad)).toThrow(/^The configuration is invalid:\n( {2}\w+: .+\n?){10}$/)
  })

  it('is reported without values', () => {
    const names = [...serviceVariables, ...evmVariables.family].concat(
      evmVariables.perNetwork.map((name) => name.replace('<chain id>', '8453')),
      'EVM_RPC_URL_BASE',
      'EVM_SECRET',
    )
    // Long and unusual enough not to occur in a message by chance.
    const secret = fc
      .tuple(
        fc.constantFrom('', 'https://', 'postgres://', '0x', '10.0.0.0/', 'true,'),
        fc.stringMatching(/^[0-9a-zA-Z]{10,40}$/),
        fc.constantFrom('', ',', ':', ' ', '@host/path', '/', '\n'),
      )
      .map(([start, middle, end]) => ({ middle, value: `${start}${middle}${end}` }))
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), secret, { minKeys: 1 }), (secrets) => {
        const environment = Object.fromEntries(
          Object.entries(secrets).map(([name, { value }]) => [name, value]),
        )
        const told = problemsOf(environment).join('\n')
        for (const { middle } of Object.values(secrets)) expect(told).not.toContain(middle)
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('CORS_ACCOUNT_ORIGINS', () => {
  it('lists origins as browsers send them', () => {
    const listed = ['https://shop.example', 'https://shop.example:8443', 'http://localhost:3000']
    const { accounts } = readConfig({ CORS_ACCOUNT_ORIGINS: ` ${listed.join(' , ')} ` })
    expect(accounts.origins).toEqual(listed)
  })

  const refused = `
    * null https://* https://*.shop.example shop.example https://shop.example/ https://shop.example/x
    https://Shop.example https://shop.example:443 https://a@shop.example http://shop.example
    http://127.0.0.1 http://localhost.shop.example file:/// https://a.example, https://bücher.example
    chrome-extension://abc`
  it.each([...refused.trim().split(/\s+/), 'https://a.example https://b.example'])('refuses %s', (value) => {
    expect(problemsOf({ CORS_ACCOUNT_ORIGINS: value })).toEqual([
      'CORS_ACCOUNT_ORIGINS: must list origins such as https://shop.example, comma separated; http for localhost only',
    ])
  })
})

describe('TRUST_PROXY', () => {
  it('lists addresses and CIDR blocks', () => {
    const { server } = readConfig({ TRUST_PROXY: '10.0.0.0/8, 127.0.0.1,::1,fd00::/8' })
    expect(server.trustProxy).toEqual(['10.0.0.0/8', '127.0.0.1', '::1', 'fd00::/8'])
  })

  it.each(['0.0.0.0/0', '::/0', '10.0.0.0/8, 0.0.0.0/0', '203.0.113.7/0', '::ffff:0.0.0.0/96'])(
    'refuses the block of all addresses %s (A54)',
    (value) => {
      expect(problemsOf({ TRUST_PROXY: value })).toEqual([
        'TRUST_PROXY: must not contain a block of all addresses, such as 0.0.0.0/0',
      ])
    },
  )

  it.each(['1', 'true', '*', 'loopback', '10.0.0.0/33', '10.0.0', '10.0.0.0/8,', 'proxy.example'])(
    'refuses %s, which would trust everyone or no one',
    (value) => {
      expect(problemsOf({ TRUST_PROXY: value })).toEqual([
        'TRUST_PROXY: must list addresses or CIDR blocks, comma separated',
      ])
    },
  )
})

describe('the EVM networks', () => {
  it('are none without a key', () => {
    expect(
      readConfig({ EVM_TOKENS_8453: token, EVM_RPC_TIMEOUT_MS: '1000', SANDBOX: 'false' }).chains,
    ).toEqual([])
  })

  it('are the six main networks of the public facilitator with a key alone', () => {
    expect(networksOf({ EVM_PRIVATE_KEY: key })).toEqual([1, 10, 8453, 42161, 57073, 80094])
    expect(readConfig({ EVM_PRIVATE_KEY: key }).chains.map(({ namespace }) => namespace)).toEqual(['eip155'])
  })

  it('are those with an endpoint, if any endpoint is set', () => {
    expect(networksOf({ EVM_PRIVATE_KEY: key, EVM_RPC_URL_84532: 'https://node' })).toEqual([84532])
  })

  it('are those listed, each once, with or without an endpoint', () => {
    const named = { EVM_PRIVATE_KEY: key, EVM_NETWORKS: '8453, 1,8453', EVM_RPC_URL_10: 'https://node' }
    expect(networksOf(named)).toEqual([8453, 1])
  })

  it.each([
    ['an endpoint', { EVM_RPC_URL_8453: 'https://node' }],
    ['a list of networks', { EVM_NETWORKS: '8453' }],
  ])('require a key if %s is set', (_, environment) => {
    expect(problemsOf(environment)).toEqual(['EVM_PRIVATE_KEY: is required to settle on EVM networks'])
  })

  it('require an endpoint if they are not built in', () => {
    expect(problemsOf({ EVM_PRIVATE_KEY: key, EVM_NETWORKS: '8453,31337,4242' })).toEqual([
      'EVM_RPC_URL_31337: is required for a network that is not built in',
      'EVM_RPC_URL_4242: is required for a network that is not built in',
    ])
    const withUrl = { EVM_PRIVATE_KEY: key, EVM_RPC_URL_31337: 'http://127.0.0.1:8545' }
    expect(networkOf(withUrl)).toMatchObject({
      network: 'eip155:31337',
      name: 'chain 31337',
      usesPublicRpc: false,
    })
  })

  it('fall back to a public endpoint with a warning', () => {
    const network = networkOf({ EVM_PRIVATE_KEY: key, EVM_NETWORKS: '8453' })
    expect(network.usesPublicRpc).toBe(true)
    expect(network.rpcUrls.map((url) => url.reveal())).toEqual(['https://mainnet.base.org'])
  })

  it('keep the order of their endpoints', () => {
    const urls = ['https://a.example/k1', 'https://b.example/k2']
    const network = networkOf({ EVM_PRIVATE_KEY: key, EVM_RPC_URL_8453: urls.join(', ') })
    expect(network.rpcUrls.map((url) => url.reveal())).toEqual(urls)
  })

  it('accept several keys, deduplicated, with or without 0x, in any letter case', () => {
    const other = '12'.repeat(32)
    const { privateKeys } = evmOf({ EVM_PRIVATE_KEY: `${key},${key.slice(2).toUpperCase()}, ${other}` })
    expect(privateKeys.map((each) => each.reveal())).toEqual([key, `0x${other}`])
  })

  it.each([
    ['EVM_RPC_URL_BASE', '; write EVM_RPC_URL_<chain id>, such as EVM_RPC_URL_8453'],
    ['EVM_RPC_URL', '; write EVM_RPC_URL_<chain id>, such as EVM_RPC_URL_8453'],
    ['EVM_TOKENS_08453', '; write EVM_TOKENS_<chain id>, such as EVM_TOKENS_8453'],
    ['EVM_POLL_INTERVAL_MS', '; write EVM_POLL_INTERVAL_MS_<chain id>, such as EVM_POLL_INTERVAL_MS_8453'],
    ['EVM_PRIVATE_KEYS', '; did you mean EVM_PRIVATE_KEY?'],
    ['EVM_NETWORK', '; did you mean EVM_NETWORKS?'],
    ['EVM_RPC_URLS_8453', '; did you mean EVM_RPC_URL_8453?'],
    ['EVM_RCP_URL_8453', '; did you mean EVM_RPC_URL_8453?'],
    ['NEAR_RPCURL_mainnet', '; did you mean NEAR_RPC_URL_mainnet?'],
    ['TEZOS_TZTK_URL_mainnet', '; did you mean TEZOS_TZKT_URL_mainnet?'],
    ['TRON_MNEMONIC', ''],
    ['EVM_constructor', ''],
    ['EVM_', ''],
  ])('refuse the misspelled variable %s', (name, advice) => {
    expect(problemsOf({ [name]: 'x' })).toEqual([`${name}: is not a known setting${advice}`])
  })
})

describe('the tokens of a network', () => {
  const tokensOf = (chainId: number, tokens?: string) => {
    const network = networkOf({
      EVM_PRIVATE_KEY: key,
      [`EVM_RPC_URL_${chainId}`]: 'https://node',
      ...(tokens === undefined ? {} : { [`EVM_TOKENS_${chainId}`]: tokens }),
    })
    return { tokens: network.tokens, acceptsAny: network.acceptsAnyToken }
  }
  const usdc = { address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', symbol: 'USDC', decimals: 6 }
  const usdCoin = { address: token, name: 'USD Coin' }
  const other = '0x00000000000000000000000000000000000000Aa'

  it.each([
    ['nothing, built in', 8453, undefined, [usdc], false],
    ['nothing, not built in', 31337, undefined, [], true],
    ['*, built in', 8453, '*', [usdc], true],
    ['*, not built in', 31337, '*', [], true],
    ['an address', 8453, token, [{ address: token }], false],
    ['an address, not built in', 31337, token, [{ address: token }], false],
    ['an address with its domain', 8453, `${token}:USD Coin:2`, [{ ...usdCoin, version: '2' }], false],
    [
      'an address with domain and decimals',
      8453,
      `${token}:USD₮0:1:18`,
      [{ address: token, name: 'USD₮0', version: '1', decimals: 18 }],
      false,
    ],
    ['several and *', 8453, `${token}, *,${other}`, [{ address: token }, { address: other }], true],
  ])('are, with %s configured, those offered', (_, chainId, listed, tokens, acceptsAny) => {
    expect(tokensOf(chainId, listed)).toEqual({ tokens, acceptsAny })
  })

  it.each(['0x12', `${token}:name`, `${token}::2`, `${token}:a:b:c`, `${token}:a:b:6:x`, 'usdc,*'])(
    'are not read from %s',
    (tokens) => {
      expect(problemsOf({ EVM_PRIVATE_KEY: key, EVM_TOKENS_8453: tokens })).toEqual([
        'EVM_TOKENS_8453: must list address or address:name:version[:decimals], or *',
      ])
    },
  )
})

describe('the configuration', () => {
  const environment = {
    DATABASE_URL: 'postgres://user:hunter2@db.example/quittance',
    REDIS_URL: 'rediss://user:hunter2@redis.example',
    TRUST_PROXY: '10.0.0.0/8',
    EVM_PRIVATE_KEY: key,
    EVM_RPC_URL_8453: 'https://node.example/v2/hunter2',
  }

  it('is deeply frozen', () => {
    const isFrozen = (value: unknown): boolean =>
      typeof value !== 'object' ||
      value === null ||
      (Object.isFrozen(value) && Object.values(value).every(isFrozen))
    expect(isFrozen(readConfig(environment))).toBe(true)
  })

  it('reveals secrets only through reveal()', () => {
    const { stores, operatorToken } = readConfig({ ...environment, OPERATOR_TOKEN: 'an-operator-token' })
    expect(operatorToken?.reveal()).toBe('an-operator-token')
    expect(`${operatorToken}`).toBe('[secret]')
    expect(stores.databaseUrl?.reveal()).toBe(environment.DATABASE_URL)
    expect(stores.redisUrl?.reveal()).toBe(environment.REDIS_URL)
  })

  it.each([
    ['a string', (value: unknown) => String(value)],
    ['a template', (value: unknown) => `${value}`],
    ['JSON', (value: unknown) => JSON.parse(JSON.stringify(value))],
    ['an inspection', (value: unknown) => inspect(value)],
  ])('prints a secret as [secret] in %s', (_, print) => {
    const { databaseUrl, redisUrl } = readConfig(environment).stores
    const { privateKeys, networks } = evmOf(environment)
    const values = [databaseUrl, redisUrl, privateKeys[0], networks[0]?.rpcUrls[0]]
    expect(values.map(print)).toEqual(Array(4).fill('[secret]'))
  })

  it.each([
    [
      'JSON',
      (value: unknown) => JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${each}` : each)),
    ],
    [
      'an inspection of everything',
      (value: unknown) => inspect(value, { depth: null, showHidden: true, getters: true }),
    ],
    [
      'an inspection without custom forms',
      (value: unknown) => inspect(value, { depth: null, customInspect: false }),
    ],
  ])('as a whole contains no secret in %s', (_, print) => {
    const printed = `${print(readConfig(environment))} ${print(evmOf(environment))}`
    for (const secret of ['hunter2', key.slice(2)]) expect(printed).not.toContain(secret)
  })

  it('opens no connection while it is read', () => {
    let loads = 0
    const family = defineChain({
      namespace: 'toy',
      readSettings: () => ({ settings: {} }),
      load: async () => {
        loads += 1
        throw new Error('not yet')
      },
    })
    expect(readConfig({}, [family]).chains.map(({ namespace }) => namespace)).toEqual(['toy'])
    expect(loads).toBe(0)
  })

  it('reports problems of all families and of the service together', () => {
    const broken = (name: string) =>
      defineChain({
        namespace: name,
        readSettings: () => ({ problems: [`${name}: is wrong`] }),
        load: async () => ({ open: async () => Promise.reject() }),
      })
    expect(problemsOf({ PORT: 'x' }, [broken('A'), broken('B')])).toEqual([
      'PORT: must be a whole number',
      'A: is wrong',
      'B: is wrong',
    ])
  })
})

describe('TIERS', () => {
  const basic = { name: 'Basic', monthlyQuota: 5, rpmLimit: 10, feeRate: 0, priceCents: 0 }
  const hosted = { API_KEY_REQUIRED: 'true', REGISTRATION: 'once' }

  it('are by default those of the specification where keys are required', () => {
    expect(readConfig(hosted).tiers).toEqual(specificationTiers)
  })

  it('begin with the tier of new accounts', () => {
    const { tiers } = readConfig({ ...hosted, TIERS: JSON.stringify({ basic, gold: basic }) })
    expect(tiers).toEqual({ table: { basic, gold: basic }, source: 'configured', registration: 'basic' })
  })

  it.each([
    ['1000', 1_000],
    ['5', 10],
    ['0', -1],
  ])('have at least the anonymous rate of %s where keys are optional', (anonymous, rpmLimit) => {
    const environment = {
      SANDBOX: 'false',
      TIERS: JSON.stringify({ basic }),
      ANONYMOUS_REQUESTS_PER_MINUTE: anonymous,
    }
    expect(readConfig(environment).tiers.table).toEqual({ basic: { ...basic, rpmLimit } })
  })

  it.each([
    [
      '{"basic":{}}',
      'TIERS: basic.name must be a string; basic.monthlyQuota must be a number; basic.rpmLimit must be a number',
    ],
    ['/no/such/file', 'TIERS: must be a JSON object of tiers, or the path of a file that can be read'],
  ])('%s is refused with a sentence', (text, problem) => {
    expect(problemsOf({ TIERS: text })).toEqual([problem])
  })
})

describe('claims of exact-direct', () => {
  it.each([
    ['open where keys are optional', {}, 'open'],
    ['keyed where keys are required', { API_KEY_REQUIRED: 'true', REGISTRATION: 'once' }, 'keyed'],
    ['as configured', { EXACT_DIRECT_CLAIMS: 'keyed' }, 'keyed'],
  ])('are %s', (_, environment, claims) => {
    expect(readConfig(environment).exactDirect).toEqual({ claims, recipients: [] })
  })

  it('are stated by recipient', () => {
    const accountId = '2f6f3c1e-6f0b-4a53-9b0e-0d6f7c9a1b11'
    const text = `near:mainnet:shop.near=memo+signedClaim, stacks:1:SP2.shop=ownKey:${accountId}+uniqueAmount:${accountId}`
    const demands = { memo: false, signedClaim: false, uniqueAmount: false, ownKey: false }
    const shop = { network: 'near:mainnet', payTo: 'shop.near', accountId: null }
    const stacks = { network: 'stacks:1', payTo: 'SP2.shop', accountId }
    expect(readConfig({ EXACT_DIRECT_RECIPIENTS: text }).exactDirect.recipients).toEqual([
      { ...shop, demands: { ...demands, memo: true, signedClaim: true } },
      { ...stacks, demands: { ...demands, ownKey: true, uniqueAmount: true } },
    ])
  })
})

describe('DISCOVERY', () => {
  const keyed = { API_KEY_REQUIRED: 'true', REGISTRATION: 'once' }
  const usual = { allowsPrivateHosts: true, staleMs: 30 * 86_400_000, probe: ownNetwork }
  const publicOnly = { probe: { allow: [] } }

  it.each([
    [{}, {}],
    [{ SANDBOX: 'true' }, publicOnly],
    [{ DATABASE_URL: 'postgres://db/x' }, publicOnly],
    [keyed, { allowsPrivateHosts: false, ...publicOnly }],
    [{ ...keyed, DISCOVERY_PRIVATE_HOSTS: 'true', DISCOVERY_STALE_DAYS: '1' }, { staleMs: 86_400_000 }],
    [{ DISCOVERY_PRIVATE_HOSTS: 'false' }, { allowsPrivateHosts: false, ...publicOnly }],
    [{ DISCOVERY_PROBE: 'off' }, { probe: null }],
    [{ DISCOVERY: 'off' }, null],
  ])('%j is %j', (environment, expected) => {
    expect(readConfig(environment).discovery).toEqual(expected === null ? null : { ...usual, ...expected })
  })

  it.each(['DISCOVERY', 'DISCOVERY_PRIVATE_HOSTS', 'DISCOVERY_STALE_DAYS', 'DISCOVERY_PROBE'])(
    '%s rejects other values',
    (name) => {
      expect(problemsOf({ [name]: 'maybe' })).toEqual([
        expect.stringMatching(new RegExp(`^${name}: must be`)),
      ])
    },
  )
})

describe('WEBHOOK_ALLOW', () => {
  it('takes names, addresses and blocks', () => {
    const { webhooks } = readConfig({ WEBHOOK_ALLOW: 'loopback, private,100.64.0.0/10,2001:db8::1' })
    expect(webhooks.allow).toEqual([...ownNetwork.allow, ...['100.64.0.0/10', '2001:db8::1']])
  })

  it.each(['all', '0.0.0.0/0', '::/0', 'loopback,', 'localhost', 'toString'])('%s is refused', (text) => {
    expect(problemsOf({ WEBHOOK_ALLOW: text })).toEqual([
      expect.stringMatching(/^WEBHOOK_ALLOW: must list loopback/),
    ])
  })
})

describe('the sandbox', () => {
  const evm = { EVM_PRIVATE_KEY: key }

  it.each([
    ['is the default without a chain', {}, 'default'],
    ['is chosen explicitly', { SANDBOX: 'true' }, 'chosen'],
    ['is chosen beside a database', { SANDBOX: 'true', DATABASE_URL: 'postgres://db' }, 'chosen'],
    ['is off where it is said', { SANDBOX: 'false' }, 'off'],
    ['is off beside a chain', evm, 'off'],
    [
      'is the default without a chain, wherever the database is',
      { DATABASE_URL: 'postgres://db' },
      'default',
    ],
    ['is off where keys are required', { API_KEY_REQUIRED: 'true', REGISTRATION: 'once' }, 'off'],
  ])('%s', (_name, environment, expected) => {
    const { sandbox, chains, stores } = readConfig(environment)
    expect(sandbox).toBe(expected)
    expect(chains.some(({ namespace }) => namespace === 'sandbox')).toBe(expected !== 'off')
    expect(stores.isSandbox).toBe(expected !== 'off')
    expect(stores.dataFolder).toBe(expected === 'off' ? './data' : 'data/sandbox')
  })

  it('has the tiers of the specification, and keys for tests unless it is said otherwise', () => {
    const { tiers: table, accounts } = readConfig({ SANDBOX: 'true' })
    expect(table).toEqual(specificationTiers)
    expect(accounts.keyEnvironment).toBe('test')
    expect(readConfig({ API_KEY_ENVIRONMENT: 'live' }).accounts.keyEnvironment).toBe('live')
    expect(readConfig(evm).accounts.keyEnvironment).toBe('live')
    const tiny = { name: 'Tiny', monthlyQuota: 3, rpmLimit: 2, feeRate: 0, priceCents: 0 }
    expect(readConfig({ TIERS: JSON.stringify({ tiny }) }).tiers.table).toEqual({ tiny })
  })

  it('is refused beside a chain', () => {
    expect(problemsOf({ SANDBOX: 'true', ...evm })).toEqual([
      'SANDBOX: must not be true beside a chain: eip155 is configured',
    ])
  })

  it('is refused with another value', () => {
    expect(problemsOf({ SANDBOX: 'yes' })).toEqual(['SANDBOX: must be true or false'])
  })
})

describe('the features of /info', () => {
  it('say what is on, and in which mode', () => {
    const usual = { idempotency: true, webhooks: true, signIn: true, exactAmount: 'at_least' }
    expect(listFeatures(readConfig({}))).toEqual({
      ...usual,
      ...{ sandbox: true, discovery: true, apiKeyRequired: false, registration: 'once', sharedLimits: false },
    })
    const production = {
      EVM_PRIVATE_KEY: key,
      API_KEY_REQUIRED: 'true',
      REGISTRATION: 'open',
      REDIS_URL: 'redis://redis',
      DISCOVERY: 'off',
    }
    expect(listFeatures(readConfig(production))).toEqual({
      ...usual,
      ...{ eip155: true, sandbox: false, discovery: false, apiKeyRequired: true, registration: 'open' },
      sharedLimits: true,
    })
  })
})
