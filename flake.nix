{
  description = "edio: an undo that never fails, for coding agents and the people who use them";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "x86_64-darwin"
        "aarch64-darwin"
      ];
      forEach = nixpkgs.lib.genAttrs systems;
      cargo = (builtins.fromTOML (builtins.readFile ./Cargo.toml)).package;
    in
    {
      packages = forEach (
        system:
        let
          pkgs = nixpkgs.legacyPackages.${system};
        in
        {
          default = pkgs.rustPlatform.buildRustPackage {
            pname = cargo.name;
            version = cargo.version;
            src = self;
            cargoLock.lockFile = ./Cargo.lock;
            nativeBuildInputs = [ pkgs.makeWrapper ];
            # The tests want several gits, users and terminals: .ci/run is where they run.
            doCheck = false;
            postInstall = ''
              sh packaging/extras.sh $out/bin/edio extras
              install -Dm644 extras/completions/edio $out/share/bash-completion/completions/edio
              install -Dm644 extras/completions/_edio $out/share/zsh/site-functions/_edio
              install -Dm644 extras/completions/edio.fish $out/share/fish/vendor_completions.d/edio.fish
              install -Dm644 -t $out/share/man/man1 extras/man/*.1
              wrapProgram $out/bin/edio --suffix PATH : ${pkgs.lib.makeBinPath [ pkgs.git ]}
            '';
            meta = {
              inherit (cargo) description;
              homepage = cargo.repository;
              license = pkgs.lib.licenses.mit;
              mainProgram = "edio";
            };
          };
        }
      );

      devShells = forEach (
        system:
        let
          pkgs = nixpkgs.legacyPackages.${system};
        in
        {
          default = pkgs.mkShell {
            packages = with pkgs; [
              cargo
              clippy
              git
              git-lfs
              python3
              rustc
              rustfmt
              shellcheck
              tmux
            ];
          };
        }
      );
    };
}
