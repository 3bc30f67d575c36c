//! Tokens that are known by how they begin.

use super::Finding;
use super::values::is_placeholder;

/// What a kind of token looks like.
pub struct Shape {
    /// How it begins.
    pub prefix: &'static str,
    kind: &'static str,
    body: Body,
    /// The least and the greatest length of the body.
    lengths: (usize, usize),
}

/// Of what a token is made behind its prefix.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Body {
    /// Hexadecimal digits.
    Hex,
    /// Upper-case letters and digits.
    Upper,
    /// Letters and digits.
    Word,
    /// As base64 in URLs: `-` and `_`, too.
    Url,
    /// As base64: `+`, `/` and `=`, too; or written as in a URL, with `%`.
    Base64,
    /// Parts with dots between them.
    Dotted,
    /// A path in a URL.
    Path,
    /// Three parts with dots between them; the third may be cut off.
    Jwt,
}

impl Body {
    fn has(self, byte: u8) -> bool {
        match self {
            Body::Hex => byte.is_ascii_hexdigit(),
            Body::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Body::Word => byte.is_ascii_alphanumeric(),
            Body::Url => byte.is_ascii_alphanumeric() || b"-_".contains(&byte),
            Body::Base64 => byte.is_ascii_alphanumeric() || b"+/=%-_".contains(&byte),
            Body::Dotted | Body::Jwt => byte.is_ascii_alphanumeric() || b"-_.=".contains(&byte),
            Body::Path => byte.is_ascii_alphanumeric() || b"-_/".contains(&byte),
        }
    }
}

const fn shape(
    prefix: &'static str,
    kind: &'static str,
    body: Body,
    shortest: usize,
    longest: usize,
) -> Shape {
    Shape {
        prefix,
        kind,
        body,
        lengths: (shortest, longest),
    }
}

/// The kind of AWS's key ids. The secret that belongs to one often stands beside it.
pub const AWS_KEY_ID: &str = "aws key id";

/// All that are known.
#[rustfmt::skip]
pub const SHAPES: &[Shape] = &[
    shape("ghp_", "github token", Body::Word, 30, 255),
    shape("gho_", "github token", Body::Word, 30, 255),
    shape("ghs_", "github token", Body::Word, 30, 255),
    shape("ghu_", "github token", Body::Word, 30, 255),
    shape("ghr_", "github token", Body::Word, 30, 255),
    shape("github_pat_", "github token", Body::Url, 36, 255),
    shape("glpat-", "gitlab token", Body::Dotted, 20, 300),
    shape("gldt-", "gitlab token", Body::Url, 20, 64),
    shape("glrt-", "gitlab token", Body::Dotted, 20, 300),
    shape("glptt-", "gitlab token", Body::Url, 20, 64),
    shape("glcbt-", "gitlab token", Body::Url, 20, 80),
    shape("glsoat-", "gitlab token", Body::Url, 20, 64),
    shape("glagent-", "gitlab token", Body::Url, 20, 64),
    shape("xoxb-", "slack token", Body::Url, 20, 255),
    shape("xoxp-", "slack token", Body::Url, 20, 255),
    shape("xoxa-", "slack token", Body::Url, 20, 255),
    shape("xoxr-", "slack token", Body::Url, 20, 255),
    shape("xoxs-", "slack token", Body::Url, 20, 255),
    shape("xoxe-", "slack token", Body::Url, 20, 255),
    shape("xoxe.xox", "slack token", Body::Url, 20, 255),
    shape("xoxc-", "slack token", Body::Url, 20, 255),
    shape("xoxd-", "slack token", Body::Base64, 20, 512),
    shape("xapp-", "slack token", Body::Url, 20, 255),
    shape("hooks.slack.com/services/", "slack hook", Body::Path, 30, 120),
    shape("hooks.slack.com/workflows/", "slack hook", Body::Path, 30, 160),
    shape("discord.com/api/webhooks/", "discord hook", Body::Path, 60, 160),
    shape("discordapp.com/api/webhooks/", "discord hook", Body::Path, 60, 160),
    shape("AKIA", AWS_KEY_ID, Body::Upper, 16, 16),
    shape("ASIA", AWS_KEY_ID, Body::Upper, 16, 16),
    shape("ABIA", AWS_KEY_ID, Body::Upper, 16, 16),
    shape("AIza", "google key", Body::Url, 35, 35),
    shape("ya29.", "google token", Body::Dotted, 20, 2048),
    shape("GOCSPX-", "google secret", Body::Url, 20, 64),
    shape("sk_live_", "stripe key", Body::Word, 16, 255),
    shape("sk_test_", "stripe key", Body::Word, 16, 255),
    shape("rk_live_", "stripe key", Body::Word, 16, 255),
    shape("rk_test_", "stripe key", Body::Word, 16, 255),
    shape("whsec_", "webhook secret", Body::Base64, 24, 255),
    shape("sk-ant-", "anthropic key", Body::Url, 20, 255),
    shape("sk-or-v1-", "openrouter key", Body::Hex, 32, 128),
    shape("sk-proj-", "openai key", Body::Url, 20, 255),
    shape("sk-svcacct-", "openai key", Body::Url, 20, 255),
    shape("sk-admin-", "openai key", Body::Url, 20, 255),
    shape("sk-", "openai key", Body::Word, 20, 255),
    shape("sk-lf-", "langfuse key", Body::Url, 30, 64),
    shape("hf_", "hugging face token", Body::Word, 30, 64),
    shape("npm_", "npm token", Body::Word, 36, 64),
    shape("pypi-AgE", "pypi token", Body::Url, 40, 512),
    shape("SG.", "sendgrid key", Body::Dotted, 40, 100),
    shape("dop_v1_", "digitalocean token", Body::Hex, 64, 64),
    shape("doo_v1_", "digitalocean token", Body::Hex, 64, 64),
    shape("dor_v1_", "digitalocean token", Body::Hex, 64, 64),
    shape("dckr_pat_", "docker token", Body::Url, 20, 64),
    shape("dckr_oat_", "docker token", Body::Url, 20, 64),
    shape("eyJ", "jwt", Body::Jwt, 30, 8192),
    shape("shpat_", "shopify token", Body::Hex, 32, 32),
    shape("shpss_", "shopify token", Body::Hex, 32, 32),
    shape("shpca_", "shopify token", Body::Hex, 32, 32),
    shape("shppa_", "shopify token", Body::Hex, 32, 32),
    shape("sq0atp-", "square token", Body::Url, 22, 22),
    shape("sq0csp-", "square token", Body::Url, 43, 43),
    shape("key-", "mailgun key", Body::Hex, 32, 32),
    shape("hvs.", "vault token", Body::Url, 24, 255),
    shape("hvb.", "vault token", Body::Url, 24, 512),
    shape("lin_api_", "linear key", Body::Word, 30, 64),
    shape("ntn_", "notion token", Body::Word, 40, 64),
    shape("figd_", "figma token", Body::Url, 30, 64),
    shape("rubygems_", "rubygems key", Body::Hex, 48, 48),
    shape("pul-", "pulumi token", Body::Hex, 40, 40),
    shape("tskey-", "tailscale key", Body::Url, 20, 100),
    shape("dapi", "databricks token", Body::Hex, 32, 32),
    shape("gsk_", "groq key", Body::Word, 40, 64),
    shape("xai-", "xai key", Body::Word, 40, 100),
    shape("pplx-", "perplexity key", Body::Word, 40, 64),
    shape("r8_", "replicate token", Body::Word, 37, 40),
    shape("nvapi-", "nvidia key", Body::Url, 40, 80),
    shape("AGE-SECRET-KEY-1", "age key", Body::Upper, 58, 58),
    shape("ATATT3", "atlassian token", Body::Base64, 60, 255),
    shape("NRAK-", "new relic key", Body::Upper, 27, 27),
    shape("glc_", "grafana token", Body::Base64, 40, 400),
    shape("glsa_", "grafana token", Body::Url, 40, 48),
    shape("sntrys_", "sentry token", Body::Base64, 40, 400),
    shape("sntryu_", "sentry token", Body::Hex, 64, 64),
    shape("dp.pt.", "doppler token", Body::Word, 40, 44),
    shape("dp.st.", "doppler token", Body::Dotted, 40, 80),
    shape("CFPAT-", "contentful token", Body::Url, 43, 43),
    shape("sbp_", "supabase token", Body::Hex, 40, 40),
    shape("sb_secret_", "supabase token", Body::Url, 20, 64),
    shape("PMAK-", "postman key", Body::Url, 50, 64),
    shape("fm2_", "fly token", Body::Base64, 60, 1024),
    shape("sig=", "signature", Body::Base64, 40, 120),
];

impl Shape {
    /// The token that stands here, where its prefix was seen in upper or lower case.
    pub fn at(&self, text: &str, at: usize) -> Option<Finding> {
        let bytes = text.as_bytes();
        let body = at + self.prefix.len();
        if !text[at..].starts_with(self.prefix) || !begins_here(bytes, at) {
            return None;
        }
        let run = bytes[body..]
            .iter()
            .take_while(|byte| self.body.has(**byte));
        let run = &text[body..body + run.take(self.lengths.1 + 1).count()];
        let run = match self.body {
            Body::Jwt => jwt(run)?,
            Body::Dotted | Body::Url => run.trim_end_matches(['.', '=']),
            _ => run,
        };
        let (shortest, longest) = self.lengths;
        let is_long_enough = (shortest..=longest).contains(&run.len());
        let is_made_up = run.len() >= 20 && !is_varied(run) || is_placeholder(run);
        let is_one = is_long_enough && !is_made_up && (self.prefix != "sk-" || is_mixed(run));
        is_one.then(|| Finding::new(self.kind, at..body + run.len()))
    }
}

/// Does no word go on here? An escape (`\n`, `%3D`) is no part of one.
pub fn begins_here(bytes: &[u8], at: usize) -> bool {
    let before = &bytes[..at];
    match before {
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', high, low] if high.is_ascii_digit() && low.is_ascii_hexdigit() => true,
        [.., last] => !(last.is_ascii_alphanumeric() || *last == b'_'),
        [] => true,
    }
}

/// The parts of a token that its first letters announce, if it is one.
fn jwt(run: &str) -> Option<&str> {
    let mut parts = run.splitn(4, '.');
    let (head, body) = (parts.next()?, parts.next()?);
    let signature = parts.next().unwrap_or_default();
    let is_json = body.starts_with("eyJ") || body.starts_with("ew") || signature.len() >= 16;
    let end = head.len() + 1 + body.len() + usize::from(!signature.is_empty()) + signature.len();
    (head.len() >= 12 && body.len() >= 8 && is_json).then(|| &run[..end])
}

fn is_varied(run: &str) -> bool {
    let mut seen = [false; 128];
    for byte in run.bytes().filter(u8::is_ascii) {
        seen[usize::from(byte)] = true;
    }
    seen.iter().filter(|seen| **seen).count() >= 8
}

fn is_mixed(run: &str) -> bool {
    let has = |is: fn(&u8) -> bool| run.bytes().any(|byte| is(&byte));
    has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}
