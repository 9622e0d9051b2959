//! The command line: what can be asked for, and in which words.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Which machines your pods need, what they cost, and why.
#[derive(Debug, Parser)]
#[command(name = "dunnage", version, about, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show what would be launched for the pending pods
    Plan {
        #[command(flatten)]
        input: Input,
        /// Form of the answer
        #[arg(short = 'o', long = "output", value_enum, default_value_t = PlanForm::Table)]
        form: PlanForm,
    },
    /// Show the whole chain behind one pod, node, launch or pool, and what is wasted
    Explain {
        #[command(subcommand)]
        object: Explained,
    },
    /// Find what is wrong, risky or careless in the input, and what to write instead
    Lint {
        #[command(flatten)]
        input: Input,
        #[command(flatten)]
        output: Output,
    },
    /// Look into the built-in catalog of instance types and prices
    Catalog {
        #[command(subcommand)]
        what: Catalog,
    },
    /// Print the custom resource definitions, ready for `kubectl apply -f -`
    Crds,
    /// Print a completion script for a shell
    Completions {
        /// Shell to complete for
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Subcommand)]
pub enum Explained {
    /// Which pools and nodes were asked, what each said, and what came nearest
    Pod {
        /// `namespace/name`, or the name alone when it is unique
        name: String,
        #[command(flatten)]
        input: Input,
        #[command(flatten)]
        output: Output,
    },
    /// Why a launch is the machine it is: what else holds its pods, and what keeps cheaper ones out
    Launch {
        /// Its number in the plan, from 1
        number: usize,
        #[command(flatten)]
        input: Input,
        #[command(flatten)]
        output: Output,
    },
    /// What each restriction of a NodePool costs: the plan without it
    Pool {
        /// Name of the NodePool
        name: String,
        #[command(flatten)]
        input: Input,
        #[command(flatten)]
        output: Output,
    },
    /// Where money goes beyond the lower bound: which launches, which pods
    Waste {
        #[command(flatten)]
        input: Input,
        #[command(flatten)]
        output: Output,
    },
    /// What is on a node, what is left of it, and what the plan binds to it
    Node {
        /// Name of the node
        name: String,
        #[command(flatten)]
        input: Input,
        #[command(flatten)]
        output: Output,
    },
}

#[derive(Debug, Subcommand)]
pub enum Catalog {
    /// List the instance types of a region
    List {
        /// Region, such as `us-east-1` or `westeurope`
        #[arg(long, default_value = "us-east-1")]
        region: String,
        /// Only types of this architecture, `amd64` or `arm64`
        #[arg(long)]
        arch: Option<String>,
        /// Only types whose name starts with this
        #[arg(long, value_name = "PREFIX")]
        name: Option<String>,
        #[command(flatten)]
        output: Output,
    },
    /// Show one instance type: labels, capacity, overhead, offerings, and where numbers come from
    Show {
        /// Name of the type, such as `m5.large` or `Standard_D4s_v5`
        #[arg(value_name = "TYPE")]
        name: String,
        /// Region; without it the first one of the catalog that has the type
        #[arg(long)]
        region: Option<String>,
        #[command(flatten)]
        output: Output,
    },
}

/// What to read and how to decide.
#[derive(Debug, Args)]
pub struct Input {
    /// Manifests, a cluster dump or a Snapshot: file, directory, or `-` for standard input
    #[arg(short = 'f', long = "file", value_name = "PATH", required = true)]
    pub files: Vec<PathBuf>,
    /// Region of the built-in catalog, instead of the one that the input shows
    #[arg(long, value_name = "REGION")]
    pub catalog: Option<String>,
    /// Price file (CSV or JSON: region, instanceType, zone, capacityType, price)
    #[arg(long, value_name = "FILE")]
    pub prices: Option<PathBuf>,
    /// Factor on prices: `0.9`, `spot=0.8`, `m5=0.7`, `m5/on-demand=0.6`; repeatable
    #[arg(long, value_name = "[NAME=]FACTOR")]
    pub discount: Vec<String>,
    /// Nothing can be bought in this zone; repeatable
    #[arg(long, value_name = "ZONE")]
    pub without_zone: Vec<String>,
    /// How to decide: `cheapest` (search), `greedy` (mended rules) or `karpenter` (1.14 as it is)
    #[arg(long, default_value = "cheapest")]
    pub strategy: String,
    /// How hard `cheapest` searches: `low`, `default` or `high`
    #[arg(long, default_value = "default")]
    pub effort: String,
    /// Moment to plan for (RFC 3339), instead of the input's
    #[arg(long, value_name = "TIME")]
    pub now: Option<String>,
    /// A setting, such as `preferencePolicy=Ignore`; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    pub settings: Vec<String>,
    /// Quotas of the cloud account: what `aws service-quotas list-service-quotas
    /// --service-code ec2` or `az vm list-usage` prints, or a list of ours (docs/quotas.md)
    #[arg(long, value_name = "FILE")]
    pub quotas: Option<PathBuf>,
    /// Also print what proves the lower bound: a value for each pod, and every machine that no
    /// other beats (docs/bound.md)
    #[arg(long)]
    pub dual: bool,
    /// Also run the plan through a model of kube-scheduler: pods that it would leave pending on
    /// the planned nodes, and what would be bought again for them
    #[arg(long, value_enum, value_name = "SCORING")]
    pub replay: Option<Scoring>,
    /// Permutes choices that are free, to show that two answers differ by a tie alone
    #[arg(long, default_value_t = 0, hide = true)]
    pub tie_seed: u32,
}

/// How kube-scheduler scores what is left of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scoring {
    /// The emptiest node first: its default
    LeastAllocated,
    /// The fullest node first
    MostAllocated,
}

/// How to print.
#[derive(Debug, Args)]
pub struct Output {
    /// Form of the answer
    #[arg(short = 'o', long = "output", value_enum, default_value_t = Form::Table)]
    pub form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// For people
    Table,
    /// For programs
    Json,
    /// The same as JSON, in YAML
    Yaml,
}

/// Forms of a plan: those of every answer, and a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PlanForm {
    /// For people
    Table,
    /// For programs
    Json,
    /// The same as JSON, in YAML
    Yaml,
    /// One page with every node as bars, for a browser or a printer
    Html,
}
