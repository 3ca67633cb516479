/*
 * Made for these tests with `openssl req -x509 -nodes -days 36500` for receiver.test, localhost and the addresses of
 * loopback. It vouches for itself, and nothing but these tests trusts it.
 */

/** The certificate, and the authority that vouches for it. */
export const testCertificate = `-----BEGIN CERTIFICATE-----
MIIByjCCAXCgAwIBAgIUYqygqJKdT0jWZt3p0/lb/r798igwCgYIKoZIzj0EAwIw
GjEYMBYGA1UEAwwPcXVpdHRhbmNlIHRlc3RzMCAXDTI2MTEyMTIxMjg0NloYDzIx
MjYxMDI4MjEyODQ2WjAaMRgwFgYDVQQDDA9xdWl0dGFuY2UgdGVzdHMwWTATBgcq
hkjOPQIBBggqhkjOPQMBBwNCAAT+35EvE4axdt9BBZNgmdcNRgyqQbpHWKUe6/dw
jAgaCbw1ecOkCbqHWa9AvY9vXbMMjq5yuPeM6pfcaXEiyQpSo4GRMIGOMB0GA1Ud
DgQWBBRsC79Dq9pT19hMQwjrILraa57urzAfBgNVHSMEGDAWgBRsC79Dq9pT19hM
QwjrILraa57urzAPBgNVHRMBAf8EBTADAQH/MDsGA1UdEQQ0MDKCDXJlY2VpdmVy
LnRlc3SCCWxvY2FsaG9zdIcEfwAAAYcQAAAAAAAAAAAAAAAAAAAAATAKBggqhkjO
PQQDAgNIADBFAiB2hJiXrUvpAmaKufWChP3Qt4g9Qa2fAm53PsJF1h8FigIhAJth
N1VM7Q5tWNpXnb+XbspwfoVAn/w20r0ib+uytbdZ
-----END CERTIFICATE-----
`

/** Its key. */
export const testCertificateKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgV1CoZeuxz+iQQirV
kVcJWjEvx0meHsyqc1JQS+ue/C6hRANCAAT+35EvE4axdt9BBZNgmdcNRgyqQbpH
WKUe6/dwjAgaCbw1ecOkCbqHWa9AvY9vXbMMjq5yuPeM6pfcaXEiyQpS
-----END PRIVATE KEY-----
`
