import { maskedApiKey } from '../../usecases/dashboard/apiKey.js'

/* The keys have the right format and are valid on no instance. */

const apiKey = `qtn_sk_${'00112233445566778899aabbccddeeff'.repeat(2)}`
const newKey = `qtn_sk_${'ffeeddccbbaa99887766554433221100'.repeat(2)}`

const quota = {
  limit: 1_000,
  period: 'monthly',
  used: 42,
  tier: 'free',
  feeRate: 0,
  resetsAt: '2026-02-01T00:00:00.000Z',
} as const

const listed = {
  apiKey,
  project: 'Report shop',
  tier: 'free',
  status: 'active',
  createdAt: '2026-01-01T00:00:00.000Z',
} as const

export const accountRequests = {
  register: { project: { value: { email: 'ada@example.com', projectName: 'Report shop' } } },
  lookup: { address: { value: { email: 'ada@example.com' } } },
  restrictions: {
    open: { summary: 'No restrictions', value: { allowedIPs: [], allowedRef: [] } },
    restricted: {
      summary: 'Two networks, and pages of one host',
      value: { allowedIPs: ['203.0.113.7', '2001:db8::/48'], allowedRef: ['shop.example.com'] },
    },
  },
} as const

export const accountResponses = {
  registered: {
    created: {
      summary: 'A new key',
      value: { apiKey, projectName: 'Report shop', quota: { ...quota, used: 0 }, isNew: true },
    },
  },
  registeredBefore: {
    known: {
      summary: 'The existing key of the project',
      value: { apiKey, projectName: 'Report shop', quota, isNew: false },
    },
    masked: {
      summary: 'The same, to a caller who may not see it',
      value: { apiKey: maskedApiKey, projectName: 'Report shop', quota: { ...quota, used: 0 }, isNew: false },
    },
  },
  lookup: {
    found: { value: { email: 'ada@example.com', keys: [listed] } },
    masked: {
      summary: 'The same, to a caller who may not see it',
      value: { email: 'ada@example.com', keys: [{ ...listed, apiKey: maskedApiKey }] },
    },
  },
  info: {
    info: {
      value: {
        tier: 'free',
        config: { name: 'Free', monthlyQuota: 1_000, rpmLimit: 10, feeRate: 0 },
        quota,
        email: 'ada@example.com',
        project: 'Report shop',
        status: 'active',
        createdAt: '2026-01-01T00:00:00.000Z',
        webhookUrl: '',
        allowedIPs: ['203.0.113.7', '2001:db8::/48'],
        allowedRef: null,
      },
    },
  },
  keys: { keys: { value: { email: 'ada@example.com', keys: [{ ...listed, current: true }] } } },
  usage: {
    week: {
      value: {
        days: 7,
        usage: [3, 0, 0, 12, 27, 0, 0].map((count, day) => ({ date: `2026-01-0${day + 1}`, count })),
      },
    },
  },
  rotated: {
    rotated: {
      value: { apiKey: newKey, project: 'Report shop', message: 'The old key is now invalid' },
    },
  },
  restrictions: {
    restricted: { value: accountRequests.restrictions.restricted.value },
    open: { value: accountRequests.restrictions.open.value },
  },
  keyCount: { count: { value: { totalKeys: 128 } } },
} as const
